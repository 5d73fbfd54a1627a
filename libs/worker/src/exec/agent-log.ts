import { Writable } from 'node:stream';
import { createLogger, type Logger } from '@pipeline/runtime';

/** Log of each agent, `<dir>/<agent>.log`; without a directory, lines are discarded. */
export class AgentLogs {
  readonly #dir: string | null;
  readonly #loggers = new Map<string, Logger>();

  constructor(dir: string | null) {
    this.#dir = dir;
  }

  of(agent: string): Logger | null {
    if (this.#dir === null) return null;
    const known = this.#loggers.get(agent);
    if (known) return known;
    // Only the file: stdout is the runner's own log.
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const logger = createLogger({ process: agent, level: 'debug', dir: this.#dir, stream: nowhere });
    this.#loggers.set(agent, logger);
    return logger;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#loggers.values()].map((logger) => logger.close()));
  }
}
