import type { Check } from './check.ts';
import { mustEqual } from './outcome.ts';
import type { Refusal } from './refusal-row.ts';

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
