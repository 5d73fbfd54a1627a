import type { Check } from './check.ts';
import { mustEqual } from './outcome.ts';

/** A request that must be refused, and with what. */
export interface Refusal {
  endpoint: string;
  /** Default GET. */
  method?: string;
  /** Template: `{repo}` and the like are filled with what the target has. */
  address: string;
  body?: string;
  /** Completes "refuses …". */
  what: string;
  status: number;
  code?: string;
  /** Template of the exact text, not encoded. */
  message?: string;
}

/** A row of the interface's error tables as a check. */
export const refusalCheck = ({ endpoint, method, address, body, what, status, code, message }: Refusal): Check => ({
  suite: 'errors',
  endpoint,
  name: `refuses ${what}`,
  async run(probe) {
    const answer = await probe.send(address, { ...(method && { method }), ...(body !== undefined && { body }) });
    mustEqual('status', answer.status, status);
    if (code === undefined && message === undefined) return;
    const given = answer.json<{ code: string; error: string; status: number }>();
    if (code !== undefined) mustEqual('code', given.code, code);
    if (message !== undefined) mustEqual('error', given.error, decodeURIComponent(probe.fill(message)));
  },
});
