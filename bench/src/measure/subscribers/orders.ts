/** What the crowd is told to do, and what it answers. Times are microseconds of the machine's monotonic clock. */
export type Order =
  | { do: 'resize'; count: number }
  | { do: 'listen'; databaseUrl: string; channel: string }
  | { do: 'begin' }
  | { do: 'count' }
  | { do: 'settle'; events: number; withinMs: number }
  | { do: 'read on'; withinMs: number };

/** What all of them have got since `begin`. */
export interface Count {
  messages: number;
  atUs: number;
}

/** What the watchers among them have seen since `begin`. */
export interface Seen {
  messages: number;
  /** From the stamp of an event to its arrival, in ms. */
  p50Ms: number;
  p99Ms: number;
}

/** Where and as whom it connects. */
export interface Target {
  host: string;
  port: number;
  path: string;
  /** Connects and then reads nothing. */
  isStalled: boolean;
}
