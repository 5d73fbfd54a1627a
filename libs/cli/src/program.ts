import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { auditCommands } from './admin/audit.ts';
import { connectionCommands } from './admin/connections.ts';
import { memberCommands } from './admin/members.ts';
import { modelPriceCommands } from './admin/model-prices.ts';
import { orgCommands } from './admin/orgs.ts';
import { repoCommands } from './admin/repos.ts';
import { userCommands } from './admin/users.ts';
import { workerTokenCommands } from './admin/worker-tokens.ts';
import { workflowCommands } from './admin/workflows.ts';
import { group, type Run } from './command.ts';
import { doctorCommand } from './doctor.ts';
import { EXIT } from './exit-codes.ts';
import type { Streams } from './streams.ts';

const AFTER = `
DATABASE_URL names the database.
Exit status: ${EXIT.ok} done, ${EXIT.refused} refused, ${EXIT.usage} wrong usage, ${EXIT.unavailable} database away, ${EXIT.internal} error of the program, ${EXIT.config} wrong setting or schema.`;

/** The command line of `pipeline`; `run` carries out what was asked for. Help and wrong usage are written here. */
export function pipelineProgram(run: Run, streams: Pick<Streams, 'stdout' | 'stderr'> = process): Command {
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
  modelPriceCommands(admin, run);
  auditCommands(admin, run);
  doctorCommand(program, run);
  settle(program, streams);
  return program;
}

/** Only main.ts ends the process. */
function settle(command: Command, streams: Pick<Streams, 'stdout' | 'stderr'>): void {
  command
    .exitOverride()
    .showHelpAfterError('(--help shows how)')
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
    });
  for (const child of command.commands) settle(child, streams);
}
