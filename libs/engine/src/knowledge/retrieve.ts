import {
  type CandidateFile,
  type ChangedFilesSource,
  chooseSnippets,
  countAnchors,
  type OmissionReason,
  rankFiles,
  type Settings,
  type Snippet,
  statusesGiven,
  sumOfFit,
} from '@pipeline/domain';
import {
  codeMapSize,
  countUnusable,
  type Db,
  findFiles,
  findItems,
  findPrecedents,
  nearestItems,
  retrievedItems,
} from '@pipeline/store';
import type { Embedder } from '../context/context.ts';
import { EmbeddingError } from './embedder.ts';
import { type RetrievalRequest, type RetrievalSubject, subjectOfRetrieval } from './retrieval-subject.ts';
import { countAnchorHits, type Found, type FoundFit, fileSigns, fitsOf, type ScopeRefs, scopeRefs } from './weigh.ts';

interface RetrievalDeps {
  db: Db;
  settings: Settings;
  /** Undefined: no semantic search, and the result reports that. */
  embedder: Embedder | undefined;
}

/** interface: Retrieval response. */
export interface Retrieval {
  snippets: Snippet[];
  omitted: { reason: OmissionReason; count: number }[];
  candidateFiles: CandidateFile[];
  tokenEstimate: number;
  truncated: boolean;
  methodBreakdown: {
    anchorsExtracted: number;
    anchorHits: number;
    precedentHits: number;
    embeddingHits: number;
    corpusSize: number;
    entityCount: number;
  };
  retrievalContext: {
    issueFound: boolean;
    prFound: boolean | null;
    titleUsed: string | null;
    bodyLength: number;
    labelsUsed: string[];
    plannedFilesCount: number | null;
    changedFilesCount: number | null;
    changedFilesSource: ChangedFilesSource;
    embeddingEnabled: boolean;
    embeddingError: string | null;
  };
}

const PRECEDENTS = 5;
/** Number of documents for the rarity of a word if the repo is not mapped. */
const UNMAPPED = 1_000;
const MAX_ITEMS = 80;

/**
 * Context for an agent before its task on an issue: items of intelligence within a token budget, relevant files, and
 * how all that was found. Six statements, each by an index and bounded, in three rounds. An unavailable embedding
 * endpoint only disables semantic search.
 */
export async function retrieve(deps: RetrievalDeps, request: RetrievalRequest): Promise<Retrieval> {
  const subject = await subjectOfRetrieval(deps.db, request);
  const map = await codeMapSize(deps.db, request);
  const names = namesIn(subject);
  const { found, refs, unusable, embeddingError } = await search(deps, request, { subject, names, files: map?.files });
  const fits = fitsOf(found, subject.anchors, refs);
  const ids = [...fits.keys()].toSorted((a, b) => fitOf(fits, b) - fitOf(fits, a)).slice(0, MAX_ITEMS);
  const details = await retrievedItems(deps.db, { tenantId: request.tenantId, ids, isMapped: map !== undefined });
  const own = [...(subject.planned ?? []), ...(subject.changed ?? [])];
  const signs = fileSigns(subject, found, names);
  const candidates = details.map((item) => ({ item, ...(fits.get(item.id) as FoundFit) }));
  const choice = chooseSnippets(candidates, {
    agent: request.agent,
    budget: request.budget ?? deps.settings.retrieval.tokenBudget,
    countTokens: details.length === 0 ? () => 0 : await tokenCounter(),
    files: own.length === 0 ? null : new Set([...own, ...found.files.slice(0, 20).map(({ path }) => path)]),
    agentKnowledge: deps.settings.retrieval.agentKnowledge,
  });
  if (unusable > 0) choice.omitted.set('status', unusable);
  return {
    snippets: choice.snippets,
    omitted: [...choice.omitted].map(([reason, count]) => ({ reason, count })),
    candidateFiles: rankFiles([...signs, ...choice.snippets.flatMap(knownFiles)]),
    tokenEstimate: choice.tokenEstimate,
    truncated: choice.omitted.has('budget'),
    methodBreakdown: {
      anchorsExtracted: countAnchors(subject.anchors) + own.length,
      anchorHits: countAnchorHits(subject, found),
      precedentHits: found.precedents.length,
      embeddingHits: found.meanings.size,
      corpusSize: map?.files ?? 0,
      entityCount: map?.symbols ?? 0,
    },
    retrievalContext: contextOf(subject, deps.settings, embeddingError),
  };
}

const fitOf = (fits: ReadonlyMap<string, FoundFit>, id: string): number => sumOfFit((fits.get(id) as FoundFit).fit);

interface Start {
  subject: RetrievalSubject;
  names: string[];
  files: number | undefined;
}

/** Files, earlier issues and the vector of the issue concurrently; then the results that depend on them. */
async function search(deps: RetrievalDeps, request: RetrievalRequest, { subject, names, files: mapped }: Start) {
  const { db } = deps;
  const { tenantId, repoId } = request;
  const { anchors, planned, changed, issue } = subject;
  const words = anchors.words.map(({ word }) => word);
  const weights = anchors.words.map(({ weight }) => weight);
  const paths = [...new Set([...anchors.paths, ...(planned ?? []), ...(changed ?? [])])];
  const total = mapped ?? UNMAPPED;
  const where = { tenantId, repoId, words, weights };
  const [files, precedents, meaning] = await Promise.all([
    findFiles(db, { ...where, symbols: anchors.symbols, paths, names }, total),
    findPrecedents(db, { ...where, besides: issue?.id ?? 0, limit: PRECEDENTS }),
    meaningOf(deps, subject),
  ]);
  const refs = scopeRefs(subject, files);
  const statuses = [...statusesGiven(deps.settings.retrieval.agentKnowledge)];
  const clues = { ...where, statuses, refs: nearestRefs(refs), precedents: precedents.map(({ issueId }) => issueId) };
  const [items, unusable, near] = await Promise.all([
    findItems(db, clues, total),
    countUnusable(db, where),
    meaning.vector ? nearestItems(db, { tenantId, repoId, model: meaning.model, vector: meaning.vector }) : [],
  ]);
  const meanings = new Map(near.filter(({ cosine }) => cosine >= MIN_COSINE).map((one) => [one.itemId, one.cosine]));
  const found: Found = { files, precedents, items, meanings };
  return { found, refs, unusable, embeddingError: meaning.error };
}

const MAX_REFS = 150;

const nearestRefs = ({ nearness }: ScopeRefs): string[] =>
  [...nearness]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MAX_REFS)
    .map(([ref]) => ref);

/** Below it two texts are unrelated, for any model. */
const MIN_COSINE = 0.2;
const MEANING_CHARS = 4_000;

type Meaning = { vector: number[] | null; model: string; error: string | null };

async function meaningOf({ settings, embedder }: RetrievalDeps, { issue }: RetrievalSubject): Promise<Meaning> {
  const { embedding, embeddingEndpoint: endpoint } = settings.retrieval;
  const none = { vector: null, model: endpoint?.model ?? '', error: null };
  if (!embedding || !issue) return none;
  if (!endpoint || !embedder) return { ...none, error: 'no embedding endpoint is configured' };
  try {
    const [vector] = await embedder.embed([`${issue.title}\n${issue.body}`.slice(0, MEANING_CHARS)], endpoint);
    return { ...none, vector: vector ?? null };
  } catch (error) {
    if (!(error instanceof EmbeddingError)) throw error;
    return { ...none, error: error.message };
  }
}

const MAX_NAMES = 5;

/** File names without their folder, and the last part of paths: the file may have moved. */
const namesIn = ({ anchors }: RetrievalSubject): string[] =>
  [...new Set(anchors.paths.map((path) => path.slice(path.lastIndexOf('/') + 1)))].slice(0, MAX_NAMES);

/** Files that a chosen item is about. */
const knownFiles = ({ scope, title }: Snippet) =>
  scope
    .filter(({ kind }) => kind === 'file')
    .map(({ ref }) => ({ path: ref, method: 'intelligence' as const, strength: 1, why: `known: ${title}` }));

const contextOf = (
  { issue, prFound, planned, changed, changedFilesSource }: RetrievalSubject,
  { retrieval }: Settings,
  embeddingError: string | null,
): Retrieval['retrievalContext'] => ({
  issueFound: issue !== undefined,
  prFound,
  titleUsed: issue?.title ?? null,
  bodyLength: issue?.body.length ?? 0,
  labelsUsed: (issue?.labels ?? []).filter((label) => !label.startsWith('svc:')),
  plannedFilesCount: planned?.length ?? null,
  changedFilesCount: changed?.length ?? null,
  changedFilesSource,
  embeddingEnabled: retrieval.embedding,
  embeddingError,
});

/** Counts tokens like current models. */
type CountTokens = (text: string) => number;

/**
 * Counts with the vocabulary o200k_base. Loading takes a quarter of a second and 30 MB, so the first retrieval that
 * needs it loads it; the module cache keeps it. Text that looks like a control token is counted as text.
 */
async function tokenCounter(): Promise<CountTokens> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const asText = { disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, asText);
}
