import { Failure, invalid } from '../http/failure.ts';
import { renderRepo, renderUser } from '../render/basics.ts';
import { GLOBAL, type RepoRecord, type Sandbox } from '../state/model.ts';
import { change, findRepo, slugOf } from '../state/sandbox.ts';

interface Move {
  owner?: string;
  name?: string;
  /** Login of the person who moves it. */
  by: string;
}

/**
 * Renames a repository or gives it to another account. Its id and its git data stay, and its former slug leads to it
 * until another repository takes that name. A transfer takes effect at once, as one between organisations does.
 * @throws Failure 422 for an unknown account, or a name that the account has already.
 */
export function moveRepo(sandbox: Sandbox, repo: RepoRecord, { owner = repo.owner, name = repo.name, by }: Move) {
  const account = sandbox.state.findUser(owner);
  if (!account)
    throw new Failure(422, 'Validation Failed', [{ resource: 'Repository', field: 'new_owner', code: 'invalid' }]);
  const known = findRepo(sandbox, owner, name);
  if (known && known.id !== repo.id) throw invalid('Repository', 'name', 'name already exists on this account');
  const moved = { ...repo, owner: account.login, name };
  if (slugOf(moved) === slugOf(repo) && name === repo.name) return repo;
  const formerSlugs = [...(repo.formerSlugs ?? []), slugOf(repo)].filter((slug) => slug !== slugOf(moved));
  return change(sandbox, () => {
    const saved = { ...moved, formerSlugs };
    sandbox.state.put('repo', GLOBAL, saved);
    takeName(sandbox, saved);
    const around = { repository: renderRepo(sandbox, saved), sender: renderUser(sandbox, by) };
    if (saved.owner === repo.owner) {
      const changes = { repository: { name: { from: repo.name } } };
      sandbox.deliveries.emit('repository', { action: 'renamed', changes, ...around });
    } else {
      const changes = { owner: { from: { user: renderUser(sandbox, repo.owner) } } };
      sandbox.deliveries.emit('repository', { action: 'transferred', changes, ...around });
    }
    return saved;
  });
}

/** Ends the use of this repository's name by any other one. Runs inside the transaction of the change. */
export function takeName({ state }: Sandbox, repo: RepoRecord): void {
  const slug = slugOf(repo);
  for (const other of state.list('repo', GLOBAL)) {
    if (other.id === repo.id || !other.formerSlugs?.includes(slug)) continue;
    state.put('repo', GLOBAL, { ...other, formerSlugs: other.formerSlugs.filter((former) => former !== slug) });
  }
}
