import type { Surface } from '@pipeline/contract';
import type { Check } from './check.ts';
import { CheckSkipped, must, mustEqual } from './outcome.ts';
import { keyOf, pageOf } from './page.ts';
import type { Probe } from './probe.ts';
import { pausableIssue, postJson, withTrack } from './scratch-actions.ts';

/** Claims a task of the scratch repo and hands it back. */
type HandBack = (probe: Probe) => Promise<void>;

/** Pages of lists whose rows change between two requests; with a scratch repo only. */
export const movingPageChecks = ({ routes }: Surface, handBack: HandBack): Check[] => {
  const has = (endpoint: string) => routes.some(({ id }) => id === endpoint);
  return [
    ...(has('putTrack') ? [eventsOfRepo, eventsOfIssue, issues] : []),
    ...(has('claimTask') ? [issuesOfConnection(handBack)] : []),
  ];
};

const PAGE = 3;
/** Rows that are followed through the pages at most. */
const FOLLOWED = 12;
/** Changes of the list while it is read. Each inserts fewer rows than a page has. */
const MOVES = 4;
/**
 * A target that ignores the offset has no last page. Other clients may insert several times as many rows as the moves.
 */
const MOST_PAGES = 4 * (FOLLOWED / PAGE + MOVES);
/** Readings until no other client changed the order meanwhile. */
const ATTEMPTS = 5;

/** Does something that inserts or updates rows of the list. */
type Move = (turn: number) => Promise<void>;

const keysOf = async (probe: Probe, address: string, query: string): Promise<string[]> =>
  (await pageOf(probe, address, query)).items.map((item) => JSON.stringify(keyOf(item)));

/** Reads page after page, with a move after each, until a page has the row or the list ends. */
async function pagesUntil(probe: Probe, address: string, last: string, move: Move): Promise<string[]> {
  const read: string[] = [];
  for (let turn = 0; !read.includes(last); turn += 1) {
    must(turn < MOST_PAGES, `a row of the first ${FOLLOWED} is on none of ${MOST_PAGES} pages with ${PAGE} rows each`);
    const page = await keysOf(probe, address, `limit=${PAGE}&offset=${turn * PAGE}`);
    mustEqual('rows that a page has twice', page.length - new Set(page).size, 0);
    read.push(...page);
    if (page.length < PAGE) break;
    if (turn < MOVES) await move(turn);
  }
  return read;
}

async function followed(probe: Probe, address: string): Promise<string[]> {
  const rows = await keysOf(probe, address, `limit=${FOLLOWED}`);
  if (rows.length <= PAGE) throw new CheckSkipped('the list of the scratch repo is shorter than two pages');
  return rows;
}

/**
 * Newest first: inserted rows push the others to later pages. A client gets a row again for each inserted one, and
 * drops it by its id; it misses none.
 */
async function mustGrowInFront(probe: Probe, address: string, move: Move): Promise<void> {
  // So that the list has a second page.
  for (let turn = 0; turn <= PAGE; turn += 1) await move(MOVES + turn);
  const before = await followed(probe, address);
  const read = await pagesUntil(probe, address, before.at(-1) ?? '', move);
  const known = read.filter((row) => before.includes(row));
  mustEqual('rows that were in the list all the time', [...new Set(known)], before);
  const inserted = (await keysOf(probe, address, `limit=${FOLLOWED + 10 * MOVES}`)).indexOf(before[0] ?? '');
  must(inserted > 0, 'an action left no event');
  const repeats = known.length - new Set(known).size;
  must(repeats <= inserted, `${repeats} rows were read again although only ${inserted} were inserted`);
}

/** Updates that leave the order as it is: every row once. */
async function mustStayInOrder(probe: Probe, address: string, move: Move): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await followed(probe, address);
    const read = await pagesUntil(probe, address, before.at(-1) ?? '', move);
    const after = await followed(probe, address);
    const isOurs = JSON.stringify(before) === JSON.stringify(after);
    if (!isOurs && attempt < ATTEMPTS) continue;
    // An order that others keep changing cannot be compared.
    if (isOurs) mustEqual('the rows of all pages', read.slice(0, before.length), before);
    return;
  }
}

const eventsOfRepo: Check = {
  suite: 'paging',
  endpoint: 'listPipelineEvents',
  name: 'returns every row when rows are inserted between two pages',
  run: (probe) =>
    withTrack(probe, (track) => {
      const move: Move = async (turn) => {
        await postJson(probe, `${track}/cooldown`, { cooldown_minutes: turn + 1 });
      };
      return mustGrowInFront(probe, `/api/pipeline-events?repo=${encodeURIComponent(probe.sample('scratch'))}`, move);
    }),
};

/** Pauses and resumes an issue in turn, and leaves it resumed. */
async function withPauses(probe: Probe, act: (issue: string, move: Move) => Promise<void>): Promise<void> {
  const issue = await pausableIssue(probe);
  let isPaused = false;
  const toggle: Move = async () => {
    isPaused = !isPaused;
    await postJson(probe, `${issue}/${isPaused ? 'pause' : 'resume'}`);
  };
  try {
    await act(issue, toggle);
  } finally {
    if (isPaused) await toggle(0);
  }
}

const eventsOfIssue: Check = {
  suite: 'paging',
  endpoint: 'issueEvents',
  name: 'returns every row when rows are inserted between two pages',
  run: (probe) => withPauses(probe, (issue, toggle) => mustGrowInFront(probe, `${issue}/events`, toggle)),
};

const issues: Check = {
  suite: 'paging',
  endpoint: 'searchIssues',
  name: 'returns every row once when rows are updated between two pages',
  run: (probe) => {
    const address = `/api/issues?state=all&repo=${encodeURIComponent(probe.sample('scratch'))}`;
    return withPauses(probe, (_issue, toggle) => mustStayInOrder(probe, address, toggle));
  },
};

/** The only list of the hosted API whose rows its own clients can change: workers claim tasks of the issues. */
const issuesOfConnection = (handBack: HandBack): Check => ({
  suite: 'paging',
  endpoint: 'listIssues',
  name: 'returns every row once when tasks of its issues are claimed and handed back between two pages',
  run: (probe) => {
    const address = `/api/cli/issues?repo=${encodeURIComponent(probe.sample('scratch'))}`;
    return mustStayInOrder(probe, address, () => handBack(probe));
  },
});
