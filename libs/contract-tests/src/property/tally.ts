import type { Expectation } from './planned-request.ts';

/** Counts of what was sent and answered. */
export interface Tally {
  requests: number;
  bySurface: Record<string, number>;
  byCredential: Record<string, number>;
  byExpectation: Record<string, number>;
  byStatus: Record<string, number>;
  byEndpoint: Record<string, EndpointTally>;
  /** Valid requests that met a condition declared with status 400, by endpoint, code and text. */
  conditions: Record<string, number>;
}

interface EndpointTally {
  requests: number;
  byStatus: Record<string, number>;
  slowestMs: number;
}

export const emptyTally = (): Tally => ({
  requests: 0,
  bySurface: {},
  byCredential: {},
  byExpectation: {},
  byStatus: {},
  byEndpoint: {},
  conditions: {},
});

interface Sent {
  surface: string;
  endpoint: string;
  credential: string;
  expectation: Expectation['kind'] | 'refused caller';
  /** null = no answer. */
  status: number | null;
  ms: number;
  condition: string | null;
}

const add = (counts: Record<string, number>, key: string) => {
  counts[key] = (counts[key] ?? 0) + 1;
};

/** Adds one request to the counts. */
export function count(tally: Tally, sent: Sent): void {
  const status = String(sent.status ?? 'none');
  tally.requests += 1;
  add(tally.bySurface, sent.surface);
  add(tally.byCredential, `${sent.surface}: ${sent.credential}`);
  add(tally.byExpectation, sent.expectation);
  add(tally.byStatus, status);
  if (sent.condition !== null) add(tally.conditions, sent.condition);
  const endpoint = `${sent.surface} ${sent.endpoint}`;
  const own = tally.byEndpoint[endpoint] ?? { requests: 0, byStatus: {}, slowestMs: 0 };
  tally.byEndpoint[endpoint] = own;
  own.requests += 1;
  add(own.byStatus, status);
  own.slowestMs = Math.max(own.slowestMs, Math.round(sent.ms));
}
