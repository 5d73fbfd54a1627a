import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { withDeadline } from '@pipeline/runtime';
import type { Count, Order, Seen, Target } from './tally.ts';

const PROGRAM = join(import.meta.dirname, 'crowd-main.ts');
const ANSWER_WITHIN_MS = 60_000;
const SETTLED_WITHIN_MS = 45_000;

/**
 * Many subscribers of one server, in a process of their own: plain sockets of Node on one thread. A server that writes
 * every message by itself to each of them can outrun that thread, which costs most per read; what is then measured as
 * messages per second is the crowd's. CPU per message is not touched by it.
 */
export interface Crowd {
  /** Opens or closes connections until there are so many. */
  resize(count: number): Promise<void>;
  /** Adds a subscriber of a channel of Postgres. */
  listen(databaseUrl: string, channel: string): Promise<void>;
  /** Counts from 0. */
  begin(): Promise<void>;
  count(): Promise<Count>;
  /** Waits until each has so many. @throws Error when one does not get them, or saw a gap. */
  settle(events: number): Promise<Seen>;
  /** Lets stalled ones read. @throws Error when the server has not cut them. */
  requireCut(): Promise<void>;
  stop(): Promise<void>;
}

export function startCrowd(url: string, { path = '/api/events', isStalled = false } = {}): Crowd {
  const { hostname: host, port } = new URL(url);
  const target: Target = { host, port: Number(port), path, isStalled };
  const child = fork(PROGRAM, [JSON.stringify(target)], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const ask = (order: Order) => withDeadline(answerOf(child, order), ANSWER_WITHIN_MS, `the crowd: ${order.do}`);
  const send = async (order: Order) => void (await ask(order));
  return {
    resize: (count) => send({ do: 'resize', count }),
    listen: (databaseUrl, channel) => send({ do: 'listen', databaseUrl, channel }),
    begin: () => send({ do: 'begin' }),
    count: async () => (await ask({ do: 'count' })) as Count,
    settle: async (events) => (await ask({ do: 'settle', events, withinMs: SETTLED_WITHIN_MS })) as Seen,
    requireCut: () => send({ do: 'read on', withinMs: SETTLED_WITHIN_MS }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

type Reply = { answer: unknown } | { error: string };

/** Orders are given one at a time. */
async function answerOf(child: ChildProcess, order: Order): Promise<unknown> {
  const ended = new AbortController();
  const gone = once(child, 'exit', ended).then(() => {
    throw new Error('the subscriber process exited unexpectedly');
  });
  const replied = once(child, 'message', ended) as Promise<[Reply]>;
  child.send(order);
  try {
    const [reply] = await Promise.race([replied, gone]);
    if ('error' in reply) throw new Error(reply.error);
    return reply.answer;
  } finally {
    gone.catch(() => undefined);
    replied.catch(() => undefined);
    ended.abort();
  }
}
