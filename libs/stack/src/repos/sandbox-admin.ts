import { deadlineSignal } from '@pipeline/runtime';
import { z } from 'zod';
import type { ServedRepo } from '../data/database.ts';

/** An import copies a whole repository. */
const ANSWER_WITHIN_MS = 60_000;
const Hooks = z.array(z.object({ id: z.int(), url: z.string() }));
const Repo = z.object({ full_name: z.string(), clone_url: z.string(), default_branch: z.string() });

export interface SandboxAdmin {
  /** Makes a repo from a git repository, the first time, or gives it these settings. */
  putRepo(repo: {
    slug: string;
    source: string;
    collaborators: Record<string, string>;
    ci: { name: string; seconds: number }[];
  }): Promise<ServedRepo>;
  /** Removes webhooks to other addresses, which are of earlier starts: the host would go on trying them. */
  dropStaleHooks(kept: string): Promise<void>;
}

/** The sandbox host's own API. Every call throws an Error with the host's words when it refuses. */
export function sandboxAdmin(sandboxUrl: string, adminToken: string): SandboxAdmin {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${sandboxUrl}/_sandbox${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: deadlineSignal(ANSWER_WITHIN_MS),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`the sandbox host returned ${answer.status} for ${method} ${path}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  return {
    async putRepo(repo) {
      const made = Repo.parse(await call('POST', '/repos', repo));
      return { slug: made.full_name, cloneUrl: made.clone_url, defaultBranch: made.default_branch };
    },
    async dropStaleHooks(kept) {
      const hooks = Hooks.parse(await call('GET', '/webhooks'));
      for (const { id } of hooks.filter(({ url }) => url !== kept)) await call('DELETE', `/webhooks/${id}`);
    },
  };
}
