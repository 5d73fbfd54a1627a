import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { auditCommands } from './admin/audit.ts';
import { connectionCommands } from './admin/connections.ts';
import { memberCommands } from './admin/members.ts';
import { orgCommands } from './admin/orgs.ts';
import { repoCommands } from './admin/repos.ts';
import { userCommands } from './admin/users.ts';
import { workerTokenCommands } from './admin/worker-tokens.ts';
import { workflowCommands } from './admin/workflows.ts';
import { group, type Run } from './command.ts';
import { EXIT } from './exit-codes.ts';

const AFTER = `
DATABASE_URL names the database.
Exit status: ${EXIT.ok} done, ${EXIT.refused} refused, ${EXIT.usage} wrong usage, ${EXIT.unavailable} database away, ${EXIT.config} wrong setting or schema.`;

/** The command line of `pipeline`; `run` carries out what was asked for. */
export function pipelineProgram(run: Run): Command {
  const program = new Command('pipeline')
    .description('Administers the pipeline service.')
    .version(manifest.version)
    .addHelpText('after', AFTER);
  const admin = group(program, 'admin', 'for those who run the service: needs the database, asks for no login');
  orgCommands(admin, run);
  userCommands(admin, run);
  memberCommands(admin, run);
  repoCommands(admin, run);
  workflowCommands(admin, run);
  workerTokenCommands(admin, run);
  connectionCommands(admin, run);
  auditCommands(admin, run);
  throwInsteadOfExit(program);
  return program;
}

/** Only main.ts ends the process. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().showHelpAfterError('(--help shows how)');
  for (const child of command.commands) throwInsteadOfExit(child);
}
