import type { NextFunction, Request, Response } from 'express';
import type { UserRecord } from '../state/model.ts';

export interface LoggedRequest {
  /** Method and route below the repository, such as `PUT /pulls/:number/merge`; the path where there is no route. */
  type: string;
  path: string;
  login: string | null;
  status: number;
  at: string;
}

const KEPT = 10_000;

/** The newest requests since the start, and how many of each type and status there were. */
export class RequestLog {
  readonly #now: () => Date;
  #entries: LoggedRequest[] = [];
  #counts: Record<string, number> = {};

  constructor(now: () => Date) {
    this.#now = now;
  }

  middleware() {
    return (req: Request, res: Response, next: NextFunction) => {
      const { path } = req;
      // A cut connection ends with `close` alone, a normal answer with both.
      res.once('close', () => {
        if (path.startsWith('/_sandbox')) return;
        const viewer: UserRecord | undefined = res.locals.viewer;
        const entry = {
          type: typeOf(req),
          path,
          login: viewer?.login ?? null,
          status: res.statusCode,
          at: this.#now().toISOString(),
        };
        this.#entries.push(entry);
        if (this.#entries.length > KEPT) this.#entries.shift();
        const key = `${entry.type} ${entry.status}`;
        this.#counts[key] = (this.#counts[key] ?? 0) + 1;
      });
      next();
    };
  }

  counts(): Record<string, number> {
    return { ...this.#counts };
  }

  entries(): LoggedRequest[] {
    return [...this.#entries];
  }

  clear(): void {
    this.#entries = [];
    this.#counts = {};
  }
}

const typeOf = (req: Request) => `${req.method} ${req.route?.path ?? req.path}`;
