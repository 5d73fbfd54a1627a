import { deadlineSignal } from '@pipeline/runtime';
import { z } from 'zod';

const ANSWER_WITHIN_MS = 5_000;
const Hooks = z.array(z.object({ id: z.int(), url: z.string() }));

/**
 * Removes webhooks to addresses of earlier starts: the host would go on trying them.
 * @throws Error when the sandbox host does not answer as it should.
 */
export async function dropStaleHooks(sandboxUrl: string, adminToken: string, kept: string): Promise<void> {
  const call = async (method: string, path: string) => {
    const headers = { authorization: `Bearer ${adminToken}` };
    const answer = await fetch(`${sandboxUrl}/_sandbox/webhooks${path}`, {
      method,
      headers,
      signal: deadlineSignal(ANSWER_WITHIN_MS),
    });
    if (!answer.ok) throw new Error(`the sandbox host answered ${answer.status} to ${method} webhooks${path}`);
    return answer.text();
  };
  const hooks = Hooks.parse(JSON.parse(await call('GET', '')));
  for (const { id } of hooks.filter(({ url }) => url !== kept)) await call('DELETE', `/${id}`);
}
