import type { Publish } from './pace.ts';

/** A process that streams events, and the way in for them. */
export interface StreamServer {
  url: string;
  pid: number;
  publish: Publish;
  stop(): Promise<void>;
}

/** The data of an event of about 200 octets on the wire, flat as those of the monitor are. */
export const stampedTransition = (event: { seq: number; stamp: number }) => ({
  issueNumber: 1 + (event.seq % 1_000),
  repo: 'bench/repo-0',
  from: 'planning',
  to: 'ready-for-dev',
  agent: 'planner',
  ...event,
});
