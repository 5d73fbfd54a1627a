/** `npm start`: the whole product on this machine. */
import { createLogger, envPort, runService } from '@pipeline/runtime';
import { stackCommand, stackOptions } from './options.ts';
import { plainLog } from './plain-log.ts';
import { reportText } from './report.ts';
import { startStack } from './start-stack.ts';

const STOP_WITHIN_MS = 10_000;
/** What a child may need of this environment; everything else is told to each of them. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'LOG_LEVEL'];

const options = stackOptions(stackCommand().parse());
const log = options.json
  ? createLogger({ process: 'stack', stream: process.stderr })
  : plainLog(process.stderr, () => new Date());
const inherited = Object.fromEntries(
  INHERITED.flatMap((name) => [[name, process.env[name] ?? '']]).filter(([, value]) => value),
);

await runService({
  name: 'stack',
  schema: {
    HOSTED_PORT: envPort().default(8080),
    MONITOR_PORT: envPort().default(8090),
    SANDBOX_PORT: envPort().default(8070),
    POSTGRES_PORT: envPort().default(0),
  },
  env: process.env,
  log,
  stopWithinMs: STOP_WITHIN_MS,
  async start({ env, signal, stack }) {
    const report = await startStack({
      options,
      ports: {
        hosted: env.HOSTED_PORT,
        monitor: env.MONITOR_PORT,
        sandbox: env.SANDBOX_PORT,
        postgres: env.POSTGRES_PORT,
      },
      inherited: { ...inherited, NODE_COMPILE_CACHE: `${options.dataDir}/cache` },
      stack,
      log,
      signal,
      onSupervisor: (supervisor) => {
        signal.addEventListener('abort', () => supervisor.close(), { once: true });
        // However this process ends, nothing that it started stays; after an orderly stop there is nothing left.
        process.on('exit', () => supervisor.killAll());
      },
    });
    const { workers, issues } = options;
    const text = reportText(report, options.dataDir, options.demo ? { workers, issues } : null);
    process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : text);
  },
});
