/** The people of the demo, a simulation: they open its issues and attend to those that wait for a person. */
import { parseSlug } from '@pipeline/domain';
import { envInt, runPeriodically, runService, withSecretFiles } from '@pipeline/runtime';
import { createGitHubHost } from '@pipeline/vcs/github';
import { z } from 'zod';
import { filesOf } from '../repos/source-repo.ts';
import { Person } from './person.ts';
import { seedIssues } from './seed.ts';

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
