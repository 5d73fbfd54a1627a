import { dependenciesIn, dependencyChanges, type HostIssue, slugKey } from '@pipeline/domain';
import { findIssue, repoIdsByKey } from '@pipeline/store';
import { type HostWord, keyOf, nothingAsked } from '../workflow/text-dependencies.ts';
import type { Intake } from './intake-context.ts';

/**
 * Reads from the host the issues without a record that a text newly names, before the transaction that applies the
 * text. One request for each, none for a text that names none. If the host does not answer they count as open; the
 * parent watch reads them again.
 * @param before the previous text; null = all of it is new.
 */
export async function readParents(intake: Intake, issue: HostIssue, before: string | null): Promise<HostWord> {
  const { engine, repo, host } = intake;
  const home = { repo, number: issue.number, url: issue.url };
  const named = before === null ? dependenciesIn(issue.body, home) : dependencyChanges(before, issue.body, home).added;
  if (named.length === 0) return nothingAsked;
  const db = engine.store.tenant;
  const repos = await repoIdsByKey(
    db,
    repo.tenant_id,
    named.map((each) => each.repo),
  );
  const word = new Map<string, 'closed' | 'missing'>();
  for (const parent of named) {
    const repoId = repos.get(slugKey(parent.repo));
    if (repoId === undefined || (await findIssue(db, repo.tenant_id, repoId, parent.number))) continue;
    const standing = await host.standingOf(parent.repo, parent.number).catch(() => null);
    if (standing && standing.state !== 'open') word.set(keyOf(parent), standing.state);
  }
  return word;
}
