/** The command line, the environment, and the life of the stack. */

import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { createLogger, envPort, type Logger, runService, type ServiceContext } from '@pipeline/runtime';
import type { PORT_VARIABLES } from '../data/ports.ts';
import { stackCommand, stackOptions } from './options.ts';
import { reportText } from './report.ts';
import { startStack } from './start-stack.ts';

/** Settings of the services that limit requests; the services of a stack take them from its environment. */
const LIMITS: readonly string[] = [
  ...['ADDRESS_RATE_LIMIT', 'CONNECTION_RATE_LIMIT', 'LOGIN_RATE_LIMIT', 'MCP_RATE_LIMIT', 'ORG_RATE_LIMIT'],
  ...['REGISTRATION_RATE_LIMIT', 'TOKEN_RATE_LIMIT', 'WORKER_RATE_LIMIT', 'ACCESS_TOKEN_SECONDS'],
  ...['LOGIN_ATTEMPTS', 'REQUESTS_PER_MINUTE'],
];

const STOP_WITHIN_MS = 10_000;
/** Variables with the endpoint to which the monitor exports traces. */
const TRACES = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'];
/** Variables that children inherit; all others are set for each child. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'LOG_LEVEL', ...LIMITS, ...TRACES];

const command = stackCommand();
if (process.argv.includes('--json')) command.configureOutput({ outputError: (text, write) => write(usageJson(text)) });
const options = stackOptions(command.parse());
const log = options.json
  ? createLogger({ process: 'stack', stream: process.stderr })
  : plainLog(process.stderr, () => new Date());
const cache = getCompileCacheDir();
const inherited = Object.fromEntries([
  ...INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  ...(cache === undefined ? [] : [['NODE_COMPILE_CACHE', dirname(cache)]]),
]);

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
  start: (context) =>
    start(context).catch((error: unknown) => {
      // A start that a signal cut short has not failed.
      if (!context.signal.aborted) throw error;
    }),
});

type Context = ServiceContext<Record<(typeof PORT_VARIABLES)[keyof typeof PORT_VARIABLES], number>>;

async function start({ env, signal, stack }: Context): Promise<void> {
  const started = await startStack({
    options,
    ports: {
      hosted: env.HOSTED_PORT,
      monitor: env.MONITOR_PORT,
      sandbox: env.SANDBOX_PORT,
      postgres: env.POSTGRES_PORT,
    },
    inherited,
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
  const text = reportText(started.report, options.dataDir, options.demo ? { workers, issues } : null);
  process.stdout.write(options.json ? `${JSON.stringify(started.report)}\n` : text);
  // The product can be used; its workers come a moment later.
  if (options.demo) await started.startFleet();
}

/** Wrong usage for programs, in the form of the other commands. */
function usageJson(text: string): string {
  const message = text.replace(/^error: /, '').trimEnd();
  return `${JSON.stringify({ error: { code: 'USAGE', message } })}\n`;
}

/** The stack's own log for people: one line each, on a terminal's standard error. */
function plainLog(stream: NodeJS.WritableStream, now: () => Date): Logger {
  const at = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    const error = fields?.error;
    const detail = error instanceof Error ? `\n${error.stack ?? error.message}` : '';
    const time = now().toTimeString().slice(0, 8);
    stream.write(`${time} ${level === 'info' ? '' : `${level}: `}${message}${detail}\n`);
  };
  const log: Logger = {
    // The process prints the reason of its exit itself when the reader can fix it.
    fatal: (message, fields) => fields?.error !== undefined && at('fatal')(message, fields),
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: () => undefined,
    child: () => log,
    isEnabled: (level) => level !== 'debug',
    close: () => Promise.resolve(),
  };
  return log;
}
