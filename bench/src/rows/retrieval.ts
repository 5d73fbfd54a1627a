import { DEFAULT_SETTINGS, RETRIEVAL_AGENTS } from '@pipeline/domain';
import { retrieve } from '@pipeline/engine';
import { Stopwatch } from '../measure/stopwatch.ts';
import { type OurStore, openOurStore } from '../ours/store.ts';
import type { Bench, Fact, Row } from '../runner/model.ts';

const ITEMS = 10_000;
const FILES = 20_000;
const ISSUES = 200;
/** Number of words, of which a file or an item holds a few; a tenth of them stand nearly everywhere. */
const VOCABULARY = 2_000;

/**
 * Goal 21: what an agent is given, over 10,000 items of intelligence and 20,000 files of a repo: the whole use case,
 * from the issue to the snippets within 4,000 tokens, one caller. Two repos of that size, so that an index that does not
 * know the repo shows. Issues of 60 words with paths and names of code, drawn in turn, agents in turn.
 * Checked: every answer holds snippets and candidate files, and keeps to the budget.
 */
export const retrievalRow: Row = {
  goal: 21,
  title: 'retrieval of intelligence',
  async open(bench) {
    const ours = await openOurStore(bench, 'bench_retrieval');
    await fill(ours);
    return { cases: [], facts: async () => [await p95(bench, ours)] };
  },
};

async function p95(bench: Bench, ours: OurStore): Promise<Fact> {
  const times: number[] = [];
  const calls = bench.quick ? 200 : 1_000;
  // They load the tokenizer and fill the caches.
  for (let call = 0; call < 20; call += 1) await once(ours, call);
  const watch = new Stopwatch(ours.pid);
  watch.begin();
  for (let call = 0; call < calls; call += 1) {
    const began = performance.now();
    await once(ours, call);
    times.push(performance.now() - began);
  }
  const { cpu } = watch.rate(calls);
  times.sort((a, b) => a - b);
  const spent = cpu ? `, CPU ${Math.round(cpu.self)} us here, ${Math.round(cpu.postgres)} us in Postgres` : '';
  bench.say(`retrieval: p50 ${times[Math.floor(calls * 0.5)]?.toFixed(1)} ms${spent}`);
  const title = `retrieval over ${ITEMS} items and ${FILES} files, p95`;
  return { title, value: times[Math.floor(calls * 0.95)] ?? Number.NaN, unit: 'ms', bound: { atMost: 50 } };
}

async function once({ store, tenantId, repoIds }: OurStore, call: number): Promise<void> {
  const agent = RETRIEVAL_AGENTS[call % RETRIEVAL_AGENTS.length] ?? 'developer';
  const about = { tenantId, repoId: repoIds[0] ?? 0, agent, issueNumber: 1 + (call % ISSUES), prNumber: null };
  const deps = { db: store.reads, settings: DEFAULT_SETTINGS, embedder: undefined };
  const found = await retrieve(deps, { ...about, budget: null });
  const { snippets, candidateFiles, tokenEstimate } = found;
  if (snippets.length > 0 && candidateFiles.length > 0 && tokenEstimate <= 4_000) return;
  throw new Error(`issue ${about.issueNumber} got ${snippets.length} snippets, ${tokenEstimate} tokens`);
}

/** Words as an agent writes them; the first tenth is drawn half of the time. */
const WORDS = `
  create temp table word as
  select n, chr(97 + n % 26) || 'o' || chr(97 + (n / 26) % 26) || 'a' || chr(97 + (n / 676) % 26) || 'en' as text
  from generate_series(0, ${VOCABULARY - 1}) n`;
/** A word for a row and a place in it, always the same one. */
const word = (row: string, place: number): string =>
  `(select text from word where n = case when (${row} * 7 + ${place}) % 2 = 0
     then (${row} * 31 + ${place} * 17) % ${VOCABULARY / 10} else (${row} * 7919 + ${place} * 104729) % ${VOCABULARY} end)`;

/** Number of a file; the item with this fingerprint is about it. Excluded items are never three in a row. */
const NUMBER = `substring(f.path from '-(\\d+)[.]ts$')`;

async function fill({ admin, tenantId, repoIds }: OurStore): Promise<void> {
  await admin.query(WORDS);
  await admin.query('create index on word (n)');
  for (const repoId of repoIds.slice(0, 2)) {
    await admin.query(`
      insert into repo_files (tenant_id, repo_id, path, symbols)
      select ${tenantId}, ${repoId}, 'libs/' || ${word('g', 1)} || '/src/' || ${word('g', 2)} || '-' || ${word('g', 3)}
        || '-' || g || '.ts', jsonb_build_array(jsonb_build_object('name', ${word('g', 4)} || initcap(${word('g', 5)}),
        'kind', 'function', 'line', 1))
      from generate_series(1, ${FILES}) g`);
    await admin.query(`
      insert into repo_scans (tenant_id, repo_id, due_at, scanned_at, file_count, symbol_count)
      values (${tenantId}, ${repoId}, now(), now(), ${FILES}, ${FILES})
      on conflict (tenant_id, repo_id) do update set scanned_at = now(), file_count = ${FILES}, symbol_count = ${FILES}`);
    await admin.query(`
      insert into intelligence_items (tenant_id, id, repo_id, kind, title, summary, status, confidence, source, metadata,
        fingerprint)
      select ${tenantId}, gen_random_uuid(), ${repoId}, (array['invariant', 'coupling', 'risk_area'])[1 + g % 3],
        ${word('g', 1)} || ' ' || ${word('g', 2)} || ' ' || ${word('g', 3)} || ' ' || g,
        'Whenever ' || ${word('g', 4)} || ' changes ' || ${word('g', 5)} || ' must follow ' || ${word('g', 6)} ||
        ', or it has to be repaired by hand.', (array['approved', 'proposed', 'observed', 'candidate'])[1 + g % 4], 0.8,
        'report', '{}', g::text
      from generate_series(1, ${ITEMS}) g`);
    await admin.query(`
      insert into intelligence_scopes (tenant_id, id, item_id, repo_id, scope_kind, scope_ref)
      select t.tenant_id, gen_random_uuid(), t.id, t.repo_id, 'file', f.path
      from intelligence_items t join repo_files f on f.repo_id = t.repo_id and ${NUMBER} = t.fingerprint
      where t.repo_id = ${repoId}`);
  }
  await admin.query(`
    insert into issues (tenant_id, repo_id, issue_number, title, body, url, state, planned_files, host_created_at,
      host_updated_at)
    select ${tenantId}, ${repoIds[0]}, g, ${word('g * 3', 1)} || ' ' || ${word('g * 3', 2)} || ' ' || ${word('g * 3', 4)},
      (select string_agg(w.text, ' ') from (select text from word where n % ${ISSUES} = g - 1 or n < 40) w) || ' ' ||
        ${word('g * 5', 4)} || initcap(${word('g * 5', 5)}) || ' in ' || f.paths[1] || ' and ' || ${word('g', 2)} || '.ts',
      '', 'planning', f.paths, now(), now()
    from generate_series(1, ${ISSUES}) g
    cross join lateral (
      select array_agg(path order by path) as paths from repo_files f
      where tenant_id = ${tenantId} and repo_id = ${repoIds[0]}
        and ${NUMBER} in ((g * 3)::text, (g * 3 + 1)::text, (g * 3 + 2)::text)) f`);
  await admin.query('vacuum analyze');
}
