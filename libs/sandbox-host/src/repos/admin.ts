import { existsSync } from 'node:fs';
import { AppError, parseSlug } from '@pipeline/domain';
import { z } from 'zod';
import { importRepository } from '../git/import-repo.ts';
import { GLOBAL, type HookRecord, type RepoRecord, type Sandbox } from '../state/model.ts';
import { change, findRepo, putUser, timestamp } from '../state/sandbox.ts';
import { recordActivity } from './activity.ts';
import { takeName } from './move.ts';

const login = z.string().regex(/^[A-Za-z0-9._[\]-]{1,100}$/, 'a login has letters, digits, ".", "_", "-" and brackets');

export const NewRepo = z.object({
  /** `owner/name`. */
  slug: z.string(),
  /** Path or URL of a git repository to copy; none = one empty commit. Read only when the repo is new. */
  source: z.string().nullable().default(null),
  private: z.boolean().default(false),
  /** Role by login. The owner is an admin in any case. */
  collaborators: z.record(login, z.enum(['admin', 'write', 'triage', 'read'])).default({}),
  requiredApprovals: z.int().min(0).max(6).default(0),
  /** Ways of merging that it allows. */
  mergeMethods: z
    .array(z.enum(['merge', 'squash', 'rebase']))
    .min(1)
    .default(['merge', 'squash', 'rebase']),
  /** Jobs that run on each head of a pull request, in place of a CI service. */
  ci: z
    .array(
      z.object({
        name: z.string().min(1),
        seconds: z.number().min(0).max(3_600).default(0),
        outcome: z.enum(['success', 'failure', 'first-fails', 'flaky', 'never']).default('success'),
        log: z.string().default('1 test failed\n'),
      }),
    )
    .default([]),
});
export type NewRepo = z.input<typeof NewRepo>;

export const NewUser = z.object({ login, token: z.string().min(8), type: z.enum(['User', 'Bot']).default('User') });
export type NewUser = z.input<typeof NewUser>;

export const NewHook = z.object({ url: z.url({ protocol: /^https?$/ }), secret: z.string().min(1) });
export type NewHook = z.input<typeof NewHook>;

/** Names that stand for something else in the paths of the host. */
const RESERVED = [
  ...['_logs', '_sandbox', 'api', 'app', 'app-manifests', 'apps', 'graphql', 'login', 'organizations', 'rate_limit'],
  ...['repos', 'repositories', 'settings', 'user', 'users'],
];

/**
 * Adds a repo, or gives a known one new settings; its content is imported only once.
 * @throws AppError INVALID_INPUT for a slug that cannot be used.
 */
export async function addRepo(sandbox: Sandbox, input: NewRepo): Promise<RepoRecord> {
  const { slug, source, collaborators, ...settings } = NewRepo.parse(input);
  const parsed = parseSlug(slug);
  if (!parsed || RESERVED.includes(parsed.owner.toLowerCase()) || /\.git$/i.test(parsed.name)) {
    throw new AppError(
      'INVALID_INPUT',
      `${slug} cannot be a repo: it must be owner/name, not a reserved word, without .git`,
    );
  }
  const people = Object.fromEntries(Object.entries(collaborators).map(([name, role]) => [name.toLowerCase(), role]));
  const known = findRepo(sandbox, parsed.owner, parsed.name);
  const id = known?.id ?? change(sandbox, () => sandbox.state.nextId());
  const dir = sandbox.git.dir({ id });
  const defaultBranch =
    known && existsSync(dir) ? known.defaultBranch : await importRepository(sandbox.git, dir, source);
  const added = change(sandbox, () => {
    const owner = sandbox.state.findUser(parsed.owner) ?? putUser(sandbox, { login: parsed.owner });
    const at = timestamp(sandbox);
    const fresh = { id, owner: owner.login, name: parsed.name, lastNumber: 0, createdAt: at, pushedAt: at };
    const latest = known && sandbox.state.get('repo', GLOBAL, id);
    const repo = { ...fresh, ...latest, ...settings, defaultBranch, collaborators: people };
    sandbox.state.put('repo', GLOBAL, repo);
    takeName(sandbox, repo);
    return repo;
  });
  if (!known) await recordActivity(sandbox, added, added.owner);
  return added;
}

export const addUser = (sandbox: Sandbox, input: NewUser) =>
  change(sandbox, () => putUser(sandbox, NewUser.parse(input)));

/** One hook per address; the same address again changes its secret. A new hook is greeted with a ping. */
export function addHook(sandbox: Sandbox, input: NewHook): HookRecord {
  const { url, secret } = NewHook.parse(input);
  const { state, deliveries } = sandbox;
  const known = state.list('hook', GLOBAL).find((hook) => hook.url === url && hook.appId === undefined);
  return change(sandbox, () => {
    const hook = { id: known?.id ?? state.nextId(), url, secret };
    state.put('hook', GLOBAL, hook);
    if (!known) deliveries.emit('ping', { zen: 'Approachable is better than simple.', hook_id: hook.id }, hook.id);
    return hook;
  });
}
