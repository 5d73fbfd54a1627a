import {
  AppError,
  type PageRequest,
  type Paginated,
  pageOf,
  parseIssueNumber,
  STATES,
  type State,
  slaLimits,
} from '@pipeline/domain';
import {
  countFound,
  type FoundIssue,
  findIssues,
  type IssueFilter,
  type IssueSearch,
  tenantIdOf,
} from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { findRepoAt } from '../repos/repo-address.ts';

interface IssueQuestion extends PageRequest {
  /** owner/repo. */
  repo?: string | undefined;
  /** External id. */
  tenant?: string | undefined;
  /** Default: open issues; with a search all. */
  state?: IssueFilter | 'all' | undefined;
  flag?: 'blocked' | 'paused' | undefined;
  /** A number, or a part of the title. */
  q?: string | undefined;
}

const OPEN = STATES.filter((state) => state !== 'done');

/**
 * A page of the issues of all enabled repos, longest in state first. Search results are not counted.
 * @throws AppError NOT_FOUND for an unknown repo or tenant, INVALID_INPUT when the tenant must be named.
 */
export async function searchIssues(engine: Engine, question: IssueQuestion): Promise<Paginated<FoundIssue>> {
  const { db } = engine.store;
  const { limit, offset } = question;
  const limits = slaLimits(engine.settings().sla.warnAfterMinutes);
  const search = { ...(await placeOf(engine, question)), ...filterOf(question), what: whatOf(question.q) };
  const rows = await findIssues(db, search, { limit, offset, limits });
  return pageOf(rows, { limit, offset }, search.what === null ? await countFound(db, search) : null);
}

async function placeOf(engine: Engine, { repo: slug, tenant }: IssueQuestion) {
  if (slug !== undefined) {
    const [owner = '', name = ''] = slug.split('/');
    const repo = await findRepoAt(engine, { owner, repo: name, tenant });
    return { tenantId: repo.tenant_id, repoId: repo.id };
  }
  if (tenant === undefined) return { tenantId: null, repoId: null };
  const tenantId = await tenantIdOf(engine.store.db, tenant);
  if (tenantId === null) throw new AppError('NOT_FOUND', `Tenant not found: ${tenant}`);
  return { tenantId, repoId: null };
}

/** A category is a set of states and a flag; another flag may be combined with it. */
function filterOf({ state, flag, q }: IssueQuestion): Pick<IssueSearch, 'states' | 'flags'> {
  const wanted = state ?? (q === undefined ? 'open' : 'all');
  const flags = flag ? [flag] : [];
  if (wanted === 'all') return { states: STATES, flags };
  if (wanted === 'open') return { states: OPEN, flags };
  if (wanted === 'blocked' || wanted === 'paused') return { states: OPEN, flags: [...flags, wanted] };
  return { states: [wanted satisfies State], flags };
}

function whatOf(q: string | undefined): IssueSearch['what'] {
  if (q === undefined) return null;
  const text = q.trim();
  const number = parseIssueNumber(text.replace(/^#/, ''));
  return number === null ? { text } : { number };
}
