import {
  AppError,
  type CheckPolicy,
  DEFAULT_TENANT,
  DEFAULT_WORKFLOW,
  formatSlug,
  type HostRepo,
  INBOUND_LABEL_TEXTS,
  requireSlug,
  type Slug,
  type VcsHost,
} from '@pipeline/domain';
import { ensureTenant, type OwnedRepo, type RepoSettings, reposOfAll, seedWorkflow, upsertRepo } from '@pipeline/store';
import { requireOrg } from '../accounts/orgs.ts';
import { type Admin, recordRepoAction, refuse } from '../context/admin.ts';
import { inTenant } from '../context/context.ts';
import { takeSlug } from './repo-identity.ts';
import { shownRepo } from './repos.ts';
import { type HostOfKind, requireReviewGate } from './review-gate.ts';

type HostKind = VcsHost['clientType'];

export interface NewRepo extends Omit<RepoSettings, 'checks'> {
  /** owner/name */
  slug: string;
  /** External id of the organisation; null = the default organisation. */
  org: string | null;
  /** null = the kind whose credentials are set, GitHub before the sandbox. */
  host: HostKind | null;
  /** Target branch of pull requests; null = the default branch on the host. */
  branch: string | null;
  /** Maximum number of concurrent tasks, null = no limit; undefined = unchanged. */
  poolSize?: number | null | undefined;
  /** Command that workers run after a checkout, null = none; undefined = unchanged. */
  setupCommand?: string | null | undefined;
  /** Checks that must be green before a merge; undefined = unchanged, at first `required`. */
  checkPolicy?: CheckPolicy | undefined;
  enabled: boolean;
  /** True = it is enabled although agents alone merge and its branch does not require the review gate. */
  withoutReviewGate: boolean;
}

/**
 * Adds a repo to the pipeline, or changes the settings of one that was added before. The host must have the repo; a
 * renamed one is added under its new name, and is the one that was added before under another name. An enabled one gets
 * the labels that people set, if it does not have them. `added` = the pipeline did not list it before.
 * @throws AppError INVALID_INPUT for an invalid slug, a repo that the host does not have or that is another one than
 * the known one of that name, a missing branch, host or review gate; NOT_FOUND for an unknown organisation; HOST_UNAVAILABLE when
 * the host does not respond.
 */
export async function addRepo(admin: Admin, input: NewRepo, hostOf: HostOfKind) {
  const asked = requireSlug(input.slug);
  const { engine } = admin;
  const tenantId = await tenantOf(admin, input.org);
  const { kind, host } = await selectHost(input.host, hostOf);
  const found = host ? await readRepo(host, asked) : null;
  const slug: Slug = found ? { owner: found.owner, name: found.name } : asked;
  const known = (await reposOfAll(engine.store.db, slug)).find(({ tenant_id }) => tenant_id === tenantId);
  const kept = known?.vcs_host === kind ? known.default_branch : undefined;
  const branch = input.branch ?? kept ?? found?.defaultBranch ?? refuse(noBranch(kind));
  const org = input.org ?? DEFAULT_TENANT;
  const isEnabledHere = known?.enabled === true && known.default_branch === branch && known.vcs_host === kind;
  if ((input.enabled || known?.enabled) && !isEnabledHere && !input.withoutReviewGate) {
    await requireReviewGate(
      admin,
      { slug: { ...slug, hostId: found?.id ?? null }, branch, known: known ?? null },
      host,
    );
  }
  // Not needed to add a repo: without the permission people create the labels, which the examination of the repo
  // reports.
  if (host && input.enabled) await host.createLabels(slug, INBOUND_LABEL_TEXTS).catch(() => []);
  return inTenant(engine, tenantId, async (unit) => {
    const holder = found && (await takeSlug(unit, found, kind));
    if (holder) return refuse(otherRepository(slug));
    const row = await upsertRepo(unit.tx, tenantId, {
      ...input,
      slug,
      vcsHost: kind,
      cloneUrl: found?.cloneUrl ?? known?.clone_url ?? `https://github.com/${slug.owner}/${slug.name}.git`,
      defaultBranch: branch,
      setupCommand: input.setupCommand === undefined ? (known?.setup_command ?? null) : input.setupCommand,
      poolSize: input.poolSize === undefined ? (known?.pool_size ?? null) : input.poolSize,
      checks: input.checkPolicy,
      installationId: null,
      hostId: found?.id ?? null,
    });
    await seedWorkflow(unit.tx, tenantId, row.id, DEFAULT_WORKFLOW);
    const owned = { ...row, org };
    recordRepoAction(unit, admin, owned, { action: 'repo-add', ...settingsOf(owned) });
    unit.notify('svc_cache');
    return { ...shownRepo(owned), added: known === undefined };
  });
}

const otherRepository = (slug: Slug): string =>
  `${formatSlug(slug)} is another repository on the host than the one that the pipeline knows by that name: remove that one first with pipeline repo remove`;

/** Settings of a repo, as the audit log has them. */
function settingsOf(row: OwnedRepo) {
  const {
    org: _org,
    repo: _repo,
    host: _host,
    pushRestricted: _open,
    unavailable: _why,
    createdAt: _at,
    ...settings
  } = shownRepo(row);
  return settings;
}

const tenantOf = async ({ engine }: Admin, org: string | null): Promise<number> =>
  org === null ? ensureTenant(engine.store.db, DEFAULT_TENANT) : (await requireOrg(engine.store.db, org)).id;

async function selectHost(
  asked: HostKind | null,
  hostOf: HostOfKind,
): Promise<{ kind: HostKind; host: VcsHost | null }> {
  for (const kind of asked === null ? (['github', 'sandbox'] as const) : [asked]) {
    const host = await hostOf(kind);
    if (host) return { kind, host };
  }
  if (asked === 'sandbox') return refuse('no credentials for the sandbox are set: set SANDBOX_URL and SANDBOX_TOKEN');
  return { kind: 'github', host: null };
}

const noBranch = (kind: HostKind): string =>
  `no credentials for ${kind} are set, so that the default branch is not known: register a GitHub App with pipeline init, set GITHUB_TOKEN, or name the branch`;

async function readRepo(host: VcsHost, slug: Slug): Promise<HostRepo> {
  const name = `${slug.owner}/${slug.name}`;
  const found = await host.getRepo(slug).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('HOST_UNAVAILABLE', `${host.clientType} did not return ${name}: ${why}`, { cause });
  });
  if (found) return found;
  return refuse(`${host.clientType} has no repository ${name}, or these credentials cannot see it`);
}
