import { AppError, formatIssueRef } from '@pipeline/domain';
import { findIssue } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import type { IssueKey } from '../context/issue-context.ts';
import { findRepoAt, type RepoAddress } from '../repos/repo-address.ts';

/** Address of an issue in paths of surface B. */
export interface IssueAddress extends RepoAddress {
  number: number;
}

/**
 * Finds the issue named in a path.
 * @throws AppError NOT_FOUND for an unknown or disabled repo, INVALID_INPUT when the tenant must be named,
 * ISSUE_NOT_FOUND.
 */
export async function findIssueKey(engine: Engine, address: IssueAddress): Promise<IssueKey> {
  const repo = await findRepoAt(engine, address);
  const issue = await findIssue(engine.store.db, repo.tenant_id, repo.id, address.number);
  if (!issue) throw new AppError('ISSUE_NOT_FOUND', `Issue not found: ${formatIssueRef(repo, address.number)}`);
  return { tenantId: repo.tenant_id, issueId: issue.id };
}
