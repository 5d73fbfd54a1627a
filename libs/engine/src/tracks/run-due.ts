import { DAY_MS, DEFAULT_SLATE, seedIssue, seedsOf, sharePlaces, slateTotal } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import {
  countOpenSiIssues,
  findPrompt,
  insertProjections,
  insertSiIssues,
  lockTracksOfRepo,
  type RepoRow,
  repoById,
  reposWithDueTracks,
  servedSince,
  storeNow,
  type TrackRow,
  updateTrack,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { handleEach } from '../context/handle-each.ts';
import { ENGINE } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { nextRunOf } from './cadence.ts';
import { isoOf } from './change-track.ts';
import { timesOf } from './track-view.ts';

/** The period in which recent issues are counted. */
const SERVED_MS = 30 * DAY_MS;

interface RunResult {
  runs: number;
  issues: number;
}

/**
 * Runs due tracks, each repo in its own transaction: a failing repo does not affect the others. Two concurrent
 * schedulers create nothing twice: the second waits for the tracks and finds that they have run.
 * @throws AggregateError when some repos failed; the others have run.
 */
export async function runDueTracks(engine: Engine): Promise<RunResult> {
  const repos = await reposWithDueTracks(engine.store.db);
  const results = await handleEach('repos with due tracks', repos, (repo) => runRepo(engine, repo));
  const total = { runs: 0, issues: 0 };
  for (const { runs, issues } of results) {
    total.runs += runs;
    total.issues += issues;
  }
  return total;
}

/**
 * The tracks of a repo share its slots, which limit their open issues. A track without a slot stays due; one that gets
 * fewer than it wants has run.
 */
function runRepo(engine: Engine, key: { tenantId: number; repoId: number }): Promise<RunResult> {
  return inTenant(engine, key.tenantId, async (unit) => {
    const tracks = await lockTracksOfRepo(unit.tx, key);
    const now = await storeNow(unit.tx);
    const due = tracks.filter((track) => isDue(track, now)).sort(byDueTime);
    const places = unit.settings.tracks.maxOpenIssues - (await countOpenSiIssues(unit.tx, key.tenantId, key.repoId));
    const result = { runs: 0, issues: 0 };
    if (due.length === 0 || places <= 0) return result;
    const repo = await repoById(unit.tx, key.tenantId, key.repoId);
    for (const [index, given] of (await shareOut(unit, due, places)).entries()) {
      const track = due[index];
      if (!track || given === 0) continue;
      await runTrack(unit, { repo, track, now }, given);
      result.runs += 1;
      result.issues += given;
    }
    return result;
  });
}

const isDue = ({ next_run_at, active_version }: TrackRow, now: string): boolean =>
  active_version > 0 && next_run_at !== null && Date.parse(next_run_at) <= Date.parse(now);

/** Orders tracks of equal weights: the longest waiting one first. */
const byDueTime = (a: TrackRow, b: TrackRow): number =>
  Date.parse(a.next_run_at ?? '') - Date.parse(b.next_run_at ?? '') || a.name.localeCompare(b.name, 'en');

const slateOf = (track: TrackRow) => track.proposal ?? DEFAULT_SLATE;

/** @returns the slots of each due track. */
async function shareOut(unit: TransactionContext, due: readonly TrackRow[], places: number): Promise<number[]> {
  const repo = { tenantId: unit.tenantId, repoId: due[0]?.repo_id ?? 0 };
  const served = new Map((await servedSince(unit.tx, repo, SERVED_MS)).map((row) => [row.track_id, row.count]));
  const claimants = due.map((track) => ({
    name: track.name,
    weight: track.weight,
    wants: slateTotal(slateOf(track)),
    served: served.get(track.id) ?? 0,
  }));
  return sharePlaces(places, claimants);
}

/** Requests the first issues of the slate from the host, and sets the next run. */
async function runTrack(
  unit: TransactionContext,
  { repo, track, now }: { repo: RepoRow; track: TrackRow; now: string },
  places: number,
): Promise<void> {
  const prompt = await findPrompt(unit.tx, track, track.active_version);
  if (!prompt) throw new Error(`track ${track.id} has no prompt version ${track.active_version}`);
  const seeds = seedsOf(slateOf(track), places).map((seed) => ({ id: timeOrderedId(), track, seed }));
  await insertSiIssues(unit.tx, seeds);
  await insertProjections(
    unit.tx,
    unit.tenantId,
    seeds.map(({ id, seed }) => ({
      repoId: repo.id,
      issueId: null,
      issueNumber: 0,
      clientType: repo.vcs_host,
      action: {
        type: 'createIssue',
        ...seedIssue({ track: track.name, label: track.label, prompt, seed }),
        marker: `track-${id}`,
      },
      idempotencyKey: id,
    })),
  );
  const next = nextRunOf({ ...timesOf(track), last_run_at: now });
  await updateTrack(unit.tx, track, { last_run_at: now, next_run_at: isoOf(next) });
  const facts = { track: track.name, promptVersion: prompt.version, issues: seeds.length, dueAt: track.next_run_at };
  recordPipelineEvent(
    unit,
    { issue: { id: null, repo_id: repo.id, issue_number: null } },
    { eventType: 'track_run', agent: ENGINE.type, payload: facts },
  );
  unit.notify('svc_projections');
}
