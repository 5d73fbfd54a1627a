/** The people of the demo, a simulation: they open its issues and attend to those that wait for a person. */
import { ENQUEUE_LABEL, type ProjectionAction, parseSlug, type RepoRef, type VcsHost } from '@pipeline/domain';
import { envInt, type Logger, runPeriodically, runService, sleep, withSecretFiles } from '@pipeline/runtime';
import { createGitHubHost } from '@pipeline/vcs/github';
import { z } from 'zod';
import { demoIssues, fillReferences } from '../demo/index.ts';
import { filesOf } from '../repos/source-repo.ts';
import { Person } from './person.ts';

/** The first issue has the machine to itself for a moment; the others come one by one. */
const FIRST_PAUSE_MS = 2_000;
const PAUSE_MS = 500;

interface SeedOptions {
  host: VcsHost;
  repo: RepoRef;
  /** Paths of the repository's files. */
  files: readonly string[];
  count: number;
  log: Logger;
  signal: AbortSignal;
}

const EVERY_MS = 2_000;
const now = () => new Date();

await runService({
  name: 'demo-people',
  schema: {
    SANDBOX_URL: z.url(),
    PERSON_TOKEN: z.string(),
    DEMO_REPO: z.string().transform((slug, context) => {
      const repo = parseSlug(slug);
      if (!repo) context.addIssue('must be owner/name');
      return repo ?? z.NEVER;
    }),
    /** The git repository whose files the issues are about. */
    DEMO_SOURCE: z.string(),
    DEMO_ISSUES: envInt(0, 1_000),
    PATH: z.string(),
  },
  env: withSecretFiles(process.env),
  async start({ env, log, signal, metrics, stack }) {
    const [baseUrl, token, repo] = [env.SANDBOX_URL, env.PERSON_TOKEN, env.DEMO_REPO];
    const host = createGitHubHost({ baseUrl, token, clientType: 'sandbox', userAgent: 'demo-people', now });
    const person = new Person({ host, repo, log, now });
    const files = await filesOf(env.DEMO_SOURCE, env.PATH);
    const seed = { host, repo, files, count: env.DEMO_ISSUES, log, signal };
    const loops = { log, metrics: metrics.loops, signal };
    let isSeeded = false;
    const seeding = runPeriodically(
      async () => {
        if (!isSeeded) await seedIssues(seed);
        isSeeded = true;
      },
      { ...loops, name: 'seed', everyMs: EVERY_MS },
    );
    const looking = runPeriodically(() => person.look(), { ...loops, name: 'look', everyMs: EVERY_MS });
    for (const loop of [seeding, looking]) {
      loop.start();
      stack.add(loop.name, () => loop.stop());
    }
    log.info('people are here');
  },
});

/**
 * Opens the demo issues that this person has not opened yet, known by their titles, so that a seeding that was cut off
 * goes on where it stopped.
 * @throws Error when the host refuses one.
 */
async function seedIssues({ host, repo, files, count, log, signal }: SeedOptions): Promise<void> {
  const login = await host.login();
  const page = await host.listIssues(repo, { state: 'all' });
  const mine = new Map(page?.issues.filter((issue) => issue.author === login).map((i) => [i.title, i.number]));
  const wanted = demoIssues(files).slice(0, count);
  if (wanted.length < count)
    log.warn('the repository has chores for fewer issues than requested', { issues: wanted.length });
  for (const [index, issue] of wanted.entries()) {
    if (mine.size >= count || signal.aborted) return;
    if (mine.has(issue.title)) continue;
    const first = mine.get(wanted[0]?.title ?? '') ?? 1;
    const { title, body, labels } = fillReferences(issue, first);
    const all = [...labels, ENQUEUE_LABEL];
    const action: ProjectionAction = { type: 'createIssue', title, body, labels: all, marker: title };
    const result = await host.execute(repo, 0, action, { mayHaveHappened: false, signal });
    if (result.status !== 'ok') throw new Error(`the host rejected the issue "${title}": ${result.message}`);
    mine.set(title, result.created?.number ?? 0);
    log.info('issue opened', { issue: result.created?.number, title });
    await sleep(index === 0 ? FIRST_PAUSE_MS : PAUSE_MS, signal);
  }
}
