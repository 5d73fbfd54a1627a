import {
  AppError,
  checkWorkflow,
  effectOnIssues,
  requiresPlanApproval,
  type WorkflowCheck,
  WorkflowSnapshot,
  withPlanApproval,
} from '@pipeline/domain';
import {
  countIssuesByState,
  type Db,
  insertWorkflow,
  lockWorkflow,
  type OwnedRepo,
  setActiveWorkflow,
  type WorkflowVersion,
  workflowVersions,
} from '@pipeline/store';
import { type Admin, notFound, recordRepoAction } from '../context/admin.ts';
import { inTenant } from '../context/context.ts';
import { requireRepo } from '../repos/repos.ts';

/** Names a repo; `org` is needed where several organisations have its slug. */
interface RepoChoice {
  repo: string;
  org: string | null;
}

export async function listWorkflows(admin: Admin, choice: RepoChoice) {
  const { versions } = await versionsOf(admin, choice);
  return versions.map(({ version, active, body, created_at, created_by, activated_at, activated_by }) => ({
    version,
    active,
    states: body.states.length,
    edges: body.edges.length,
    createdAt: created_at,
    createdBy: created_by,
    activatedAt: activated_at,
    activatedBy: activated_by,
  }));
}

/** A version of the workflow, by default the active one. @throws AppError NOT_FOUND. */
export async function showWorkflow(
  admin: Admin,
  choice: RepoChoice,
  version: number | null,
): Promise<WorkflowSnapshot> {
  const { versions } = await versionsOf(admin, choice);
  const active = () => versions.find((one) => one.active) ?? notFound(`no workflow of ${choice.repo} is in force`);
  // The store keeps the keys in another order; readers expect that of the reference.
  return WorkflowSnapshot.parse((version === null ? active() : versionAmong(versions, version)).body);
}

/** Validates a workflow against the engine and the issues in progress. Writes nothing. */
export async function checkWorkflowFor(admin: Admin, choice: RepoChoice, document: unknown): Promise<WorkflowCheck> {
  const { repo, versions } = await versionsOf(admin, choice);
  return checked(admin.engine.store.db, repo, { document: numbered(document, versions), versions });
}

interface PutWorkflow extends RepoChoice {
  /** The document as submitted; its version is ignored. */
  document: unknown;
  activate: boolean;
}

/**
 * Stores a workflow as the next version of a repo, and activates it if requested; all or nothing.
 * @throws AppError INVALID_INPUT with every error of the check, one a line; NOT_FOUND.
 */
export async function putWorkflow(admin: Admin, { document, activate, ...choice }: PutWorkflow) {
  const repo = await requireRepo(admin, choice.repo, choice.org);
  return inTenant(admin.engine, repo.tenant_id, async (unit) => {
    await lockWorkflow(unit.tx, repo.tenant_id, repo.id);
    const versions = await workflowVersions(unit.tx, repo.tenant_id, repo.id);
    const check = await checked(unit.tx, repo, { document: numbered(document, versions), versions });
    const workflow = accepted(check);
    await insertWorkflow(unit.tx, repo.tenant_id, repo.id, { workflow, by: admin.actor });
    recordRepoAction(unit, admin, repo, { action: 'workflow-put', version: workflow.version });
    if (activate) {
      await setActiveWorkflow(unit.tx, repo.tenant_id, repo.id, { version: workflow.version, by: admin.actor });
      recordRepoAction(unit, admin, repo, {
        action: 'workflow-activate',
        version: workflow.version,
        before: activeVersion(versions),
      });
    }
    return { repo: slugOf(repo), version: workflow.version, active: activate, warnings: check.warnings };
  });
}

/**
 * Stores and activates a version of the active workflow with or without plan approval. Issues that wait for an approval
 * keep waiting when it is switched off, and can still be answered.
 * @throws AppError NOT_FOUND; INVALID_INPUT where the workflow lacks a state that plan approval needs.
 */
export async function setPlanApproval(admin: Admin, choice: RepoChoice, mode: 'required' | 'off') {
  const workflow = await showWorkflow(admin, choice, null);
  if (requiresPlanApproval(workflow) === (mode === 'required')) {
    return { repo: choice.repo, version: workflow.version, warnings: [], changed: false };
  }
  const document = withPlanApproval(workflow, mode);
  const { repo, version, warnings } = await putWorkflow(admin, { ...choice, document, activate: true });
  return { repo, version, warnings, changed: true };
}

/**
 * Activates a stored version. Issues stay in their state and follow its edges from the next event on.
 * @throws AppError NOT_FOUND; INVALID_INPUT when this release of the engine does not support it.
 */
export async function activateWorkflow(admin: Admin, choice: RepoChoice, version: number) {
  const repo = await requireRepo(admin, choice.repo, choice.org);
  return inTenant(admin.engine, repo.tenant_id, async (unit) => {
    await lockWorkflow(unit.tx, repo.tenant_id, repo.id);
    const versions = await workflowVersions(unit.tx, repo.tenant_id, repo.id);
    const { body } = versionAmong(versions, version);
    const check = await checked(unit.tx, repo, { document: body, versions });
    accepted(check);
    const before = activeVersion(versions);
    const result = { repo: slugOf(repo), version, before, warnings: check.warnings };
    if (before === version) return { ...result, changed: false };
    await setActiveWorkflow(unit.tx, repo.tenant_id, repo.id, { version, by: admin.actor });
    recordRepoAction(unit, admin, repo, { action: 'workflow-activate', version, before });
    return { ...result, changed: true };
  });
}

async function versionsOf(admin: Admin, choice: RepoChoice) {
  const repo = await requireRepo(admin, choice.repo, choice.org);
  return { repo, versions: await workflowVersions(admin.engine.store.db, repo.tenant_id, repo.id) };
}

async function checked(
  db: Db,
  repo: OwnedRepo,
  { document, versions }: { document: unknown; versions: readonly WorkflowVersion[] },
): Promise<WorkflowCheck> {
  const check = checkWorkflow(document);
  if (!check.workflow || check.errors.length > 0) return check;
  const counts = await countIssuesByState(db, repo.tenant_id, repo.id);
  const before = versions.find(({ active }) => active)?.body ?? null;
  return { ...check, warnings: [...check.warnings, ...effectOnIssues(check.workflow, before, counts)] };
}

/** The document as the next version; the check reports a document that is no object. */
function numbered(document: unknown, versions: readonly WorkflowVersion[]): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return document;
  return { ...document, version: (versions[0]?.version ?? 0) + 1 };
}

function accepted({ workflow, errors }: WorkflowCheck): WorkflowSnapshot {
  if (workflow && errors.length === 0) return workflow;
  throw new AppError('INVALID_INPUT', ['the workflow is not valid:', ...errors].join('\n'));
}

const versionAmong = (versions: readonly WorkflowVersion[], version: number): WorkflowVersion =>
  versions.find((one) => one.version === version) ??
  notFound(`there is no version ${version}; there are ${versions.map((one) => one.version).join(', ') || 'none'}`);

const activeVersion = (versions: readonly WorkflowVersion[]): number | null =>
  versions.find(({ active }) => active)?.version ?? null;

const slugOf = ({ owner, name }: OwnedRepo): string => `${owner}/${name}`;
