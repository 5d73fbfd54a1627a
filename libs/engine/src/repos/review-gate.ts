import {
  DEFAULT_WORKFLOW,
  type DoctorCheck,
  judgeReviewGate,
  mergesWithoutPerson,
  type RepoRef,
  type VcsHost,
} from '@pipeline/domain';
import { type OwnedRepo, workflowVersions } from '@pipeline/store';
import { type Admin, refuse } from '../context/admin.ts';

/** The host of a kind; null without credentials for it. */
export type HostOfKind = (kind: string) => Promise<VcsHost | null>;

/** A branch, and the repo of the pipeline that it is of; null = the repo is not added yet. */
interface GatedBranch {
  slug: RepoRef;
  branch: string;
  known: Pick<OwnedRepo, 'tenant_id' | 'id'> | null;
}

/** Reads whether the branch requires the status of the review. @throws what the read of the host throws. */
export async function readReviewGate(
  { engine }: Admin,
  { slug, branch, known }: GatedBranch,
  host: Pick<VcsHost, 'mergeRulesOf'>,
): Promise<DoctorCheck> {
  const [rules, versions] = await Promise.all([
    host.mergeRulesOf(slug, branch),
    known === null ? [] : workflowVersions(engine.store.db, known.tenant_id, known.id),
  ]);
  const workflow = versions.find(({ active }) => active)?.body ?? DEFAULT_WORKFLOW;
  return judgeReviewGate(rules.reviewGate, mergesWithoutPerson(workflow));
}

/**
 * Requires of a repo that is to be enabled that its branch requires the review gate, or that its workflow asks a person
 * before each merge. A gate that cannot be read is none.
 * @param host null = there are no credentials for it.
 * @throws AppError INVALID_INPUT with what is missing.
 */
export async function requireReviewGate(admin: Admin, branch: GatedBranch, host: VcsHost | null): Promise<void> {
  const problem =
    host === null
      ? 'no credentials for its host are set here, so that its review gate cannot be read'
      : await readReviewGate(admin, branch, host).then(
          ({ status, message }) => (status === 'error' ? message : null),
          (error: unknown) => `the host did not respond: ${error instanceof Error ? error.message : String(error)}`,
        );
  if (problem === null) return;
  const { owner, name } = branch.slug;
  refuse(
    `${owner}/${name} is not enabled: ${problem}. --without-review-gate (withoutReviewGate in the API) enables it all the same`,
  );
}
