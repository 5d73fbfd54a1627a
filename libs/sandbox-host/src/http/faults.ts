import type { NextFunction, Request, Response } from 'express';
import { z } from 'zod';

/** Fault of the next requests that match. */
export const Fault = z
  .object({
    /** Answer with this status in place of the real answer; nothing is carried out. */
    status: z.int().min(400).max(599).optional(),
    message: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** Cut the connection before anything is carried out, or after it was and before the answer. */
    drop: z.enum(['before', 'after']).optional(),
    times: z.int().positive().default(1),
    /** `path` is a part of the path. */
    match: z.object({ method: z.string().optional(), path: z.string().optional() }).default({}),
  })
  .refine((fault) => (fault.status === undefined) !== (fault.drop === undefined), 'give either status or drop');
export type Fault = z.input<typeof Fault>;

/** Faults on order, for trying out how a client bears them. */
export class Faults {
  #pending: z.output<typeof Fault>[] = [];

  add(fault: Fault): void {
    this.#pending.push(Fault.parse(fault));
  }

  clear(): void {
    this.#pending = [];
  }

  middleware() {
    return (req: Request, res: Response, next: NextFunction) => {
      const fault = this.#take(req);
      if (!fault) return next();
      if (fault.drop === 'before') return void req.socket.destroy();
      if (fault.drop === 'after') return cutAnswer(req, res, next);
      const message = fault.message ?? 'a fault was ordered';
      const body = { message, documentation_url: 'https://docs.github.com/rest', status: String(fault.status) };
      res
        .status(fault.status ?? 500)
        .set(fault.headers ?? {})
        .json(body);
    };
  }

  #take(req: Request): z.output<typeof Fault> | undefined {
    const { method, path } = req;
    if (path.startsWith('/_sandbox')) return undefined;
    const fault = this.#pending.find(
      ({ match }) => (match.method ?? method).toUpperCase() === method && path.includes(match.path ?? ''),
    );
    if (!fault) return undefined;
    fault.times -= 1;
    if (fault.times === 0) this.#pending = this.#pending.filter((other) => other !== fault);
    return fault;
  }
}

/** The handler runs to its end; its first byte meets a closed connection. */
function cutAnswer(req: Request, res: Response, next: NextFunction): void {
  const cut = () => {
    req.socket.destroy();
    return res;
  };
  Object.assign(res, { writeHead: cut, write: () => Boolean(cut()), end: cut });
  next();
}
