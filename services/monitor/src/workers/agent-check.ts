import { ConfigReloadOutcome as ReloadBody } from '@pipeline/contract';
import { AGENT_STATUSES, type AgentObservation, type AgentStatus, type ConfigReloadOutcome } from '@pipeline/domain';
import { deadlineSignal } from '@pipeline/runtime';
import { z } from 'zod';

const MAX_BODY_BYTES = 64 * 1024;

/** Agents are other people's programs: what does not have this shape is left out, not refused. */
const Body = z.object({
  status: z.string().optional().catch(undefined),
  uptime: z.number().nonnegative().nullable().catch(null),
  version: z.string().max(200).nullable().catch(null),
  currentTaskId: z.string().max(200).nullable().catch(null),
  configReload: ReloadBody.nullable().catch(null),
});
const NOTHING = { status: undefined, uptime: null, version: null, currentTaskId: null, configReload: null };

/** A look, and what the agent says of its last reload of a configuration. */
export type AgentCheck = AgentObservation & { configReload?: ConfigReloadOutcome | null };

/** Errors of a connection that tell that nobody is there. */
const ABSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * Asks an agent once how it is. An answer with a good status is the word of the agent: its JSON body may name one of the
 * four statuses, and none means healthy.
 * @param timeoutMs for the whole answer.
 */
export async function checkAgent(url: string, timeoutMs: number, signal?: AbortSignal): Promise<AgentCheck> {
  const deadline = deadlineSignal(timeoutMs, signal);
  try {
    const response = await fetch(url, { signal: deadline, headers: { accept: 'application/json' } });
    const text = await readAtMost(response, MAX_BODY_BYTES);
    if (!response.ok) return { kind: 'failed', reachable: true, problem: `answers ${response.status}` };
    return answered(parsed(text));
  } catch (error) {
    if (deadline.aborted)
      return { kind: 'failed', reachable: false, problem: `does not answer within ${timeoutMs} ms` };
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    const problem = cause?.message || (cause?.code ?? (error as Error).message);
    return ABSENT.has(cause?.code ?? '') ? { kind: 'absent', problem } : { kind: 'failed', reachable: false, problem };
  }
}

function answered({ status: word, ...told }: z.output<typeof Body>): AgentCheck {
  const known = AGENT_STATUSES.find((status) => status === word);
  const isFine = word === undefined || word === 'ok';
  const status: AgentStatus = known ?? (isFine ? 'healthy' : 'degraded');
  const problem = status === 'healthy' ? null : `says "${word?.slice(0, 100)}"`;
  return { kind: 'answered', status, problem, ...told };
}

function parsed(text: string): z.output<typeof Body> {
  try {
    return Body.catch(NOTHING).parse(JSON.parse(text));
  } catch {
    return NOTHING; // Plain text, such as "OK".
  }
}

/** A body without end must not fill the memory. */
async function readAtMost(response: Response, bytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let read = 0;
  for await (const chunk of response.body ?? []) {
    read += chunk.byteLength;
    if (read > bytes) throw new Error(`response larger than ${bytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}
