import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { auditCommands } from './admin/audit.ts';
import { connectionCommands } from './admin/connections.ts';
import { identityCommands } from './admin/identities.ts';
import { invitationCommands } from './admin/invitations.ts';
import { memberCommands } from './admin/members.ts';
import { modelPriceCommands } from './admin/model-prices.ts';
import { orgCommands } from './admin/orgs.ts';
import { userCommands } from './admin/users.ts';
import { workerTokenCommands } from './admin/worker-tokens.ts';
import { workflowCommands } from './admin/workflows.ts';
import { group, type Runners } from './command/command.ts';
import { EXIT } from './command/exit-codes.ts';
import type { Streams } from './command/streams.ts';
import { completionCommand } from './completion.ts';
import { loginCommands } from './customer/login.ts';
import { mcpCommand } from './customer/mcp.ts';
import { readCommands } from './customer/reads.ts';
import { watchCommand } from './customer/watch.ts';
import { doctorCommand } from './doctor.ts';
import { initCommand } from './init/init.ts';
import { repoCommands } from './repos.ts';

const AFTER = `
Exit status: ${EXIT.ok} done, ${EXIT.refused} refused, ${EXIT.usage} wrong usage, ${EXIT.unavailable} database, host or service unavailable, ${EXIT.internal} internal error, ${EXIT.notLoggedIn} not logged in, ${EXIT.config} wrong setting or schema.`;

/** Creates the command line of `pipeline`. The runners execute commands; help and usage errors are written here. */
export function pipelineProgram(
  { run, runLocal }: Runners,
  streams: Pick<Streams, 'stdout' | 'stderr'> = process,
): Command {
  const program = new Command('pipeline')
    .description('Shows your pipeline on the hosted API, and administers the pipeline service.')
    .version(manifest.version)
    .addHelpText('after', AFTER);
  program.commandsGroup('For customers (need the address of the hosted API, and a login):');
  loginCommands(program, runLocal);
  readCommands(program, runLocal);
  watchCommand(program, runLocal);
  mcpCommand(program, runLocal);
  program.commandsGroup('For administrators (need DATABASE_URL):');
  const admin = group(program, 'admin', 'administration of the service; requires database access, no login');
  orgCommands(admin, run);
  userCommands(admin, run);
  identityCommands(admin, run);
  memberCommands(admin, run);
  invitationCommands(admin, run);
  workflowCommands(admin, run);
  workerTokenCommands(admin, run);
  connectionCommands(admin, run);
  modelPriceCommands(admin, run);
  auditCommands(admin, run);
  repoCommands(program, run);
  doctorCommand(program, run);
  program.commandsGroup('Without a database and a login:');
  initCommand(program, runLocal);
  completionCommand(program, runLocal);
  settle(program, streams);
  return program;
}

/** Prevents commander from exiting the process; only main.ts does. */
function settle(command: Command, streams: Pick<Streams, 'stdout' | 'stderr'>): void {
  command
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
    });
  for (const child of command.commands) settle(child, streams);
}
