import { Router } from 'express';
import { requireRole } from '../access/roles.ts';
import { branchRef } from '../git/git.ts';
import { queryValue, repoOf, viewerOf } from '../http/request.ts';
import { nodeId, renderUser } from '../render/basics.ts';
import type { ActivityRecord, RepoRecord, Sandbox } from '../state/model.ts';
import { change, timestamp } from '../state/sandbox.ts';

const NONE = '0'.repeat(40);

/** Records the changes of branches since the last call, made by one account. One git process, one more per new head. */
export async function recordActivity(sandbox: Sandbox, repo: RepoRecord, by: string): Promise<void> {
  const { git, state } = sandbox;
  const dir = git.dir(repo);
  const list = await git.run(dir, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads']);
  const now = new Map(list.split('\n').flatMap((line) => (line ? [line.split(' ') as [string, string]] : [])));
  const known = new Map(state.list('activity', repo.id).map(({ ref, after }) => [ref, after]));
  for (const ref of new Set([...known.keys(), ...now.keys()])) {
    const [before, after] = [known.get(ref) ?? NONE, now.get(ref) ?? NONE];
    if (before === after) continue;
    const type = await typeOf(sandbox, dir, before, after);
    change(sandbox, () => {
      const record = { id: state.nextId(), ref, before, after, type, actor: by, at: timestamp(sandbox) };
      state.put('activity', repo.id, record);
    });
  }
}

async function typeOf({ git }: Sandbox, dir: string, before: string, after: string): Promise<ActivityRecord['type']> {
  if (before === NONE) return 'branch_creation';
  if (after === NONE) return 'branch_deletion';
  return (await git.contains(dir, after, before)) ? 'push' : 'force_push';
}

/** The log of pushes of a repository, the newest first. */
export function activityRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });
  router.get('/activity', (req, res) => {
    const repo = repoOf(res);
    requireRole(repo, viewerOf(res).login, 'read');
    const ref = queryValue(req, 'ref');
    const size = Math.min(Number(queryValue(req, 'per_page') ?? 30), 100);
    const wanted = ref === undefined || ref.startsWith('refs/') ? ref : branchRef(ref);
    const actor = queryValue(req, 'actor')?.toLowerCase();
    const type = queryValue(req, 'activity_type');
    const found = sandbox.state
      .list('activity', repo.id)
      .filter((each) => (wanted ?? each.ref) === each.ref && (type ?? each.type) === each.type)
      .filter((each) => (actor ?? each.actor.toLowerCase()) === each.actor.toLowerCase());
    res.json(
      found
        .reverse()
        .slice(0, size)
        .map((each) => render(sandbox, each)),
    );
  });
  return router;
}

/** GitHub's `activity`. */
const render = (sandbox: Sandbox, { id, ref, before, after, type, actor, at }: ActivityRecord) => ({
  id,
  node_id: nodeId('RepositoryActivity', id),
  before,
  after,
  ref,
  timestamp: at,
  activity_type: type,
  actor: renderUser(sandbox, actor),
});
