import type { Logger } from '@pipeline/runtime';

/** The stack's own log for people: one line each, on a terminal's standard error. */
export function plainLog(stream: NodeJS.WritableStream, now: () => Date): Logger {
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
