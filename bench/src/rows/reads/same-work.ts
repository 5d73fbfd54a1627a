import { createHash } from 'node:crypto';
import { withSchema } from '../../measure/pgbench.ts';
import type { Ask } from '../../measure/wrk.ts';
import { RIGHTS } from '../../peers/reads-sql.ts';
import type { Case } from '../../runner/model.ts';
import type { ReadWorld } from './world.ts';

interface SameWork {
  name: string;
  asks: readonly Ask[];
  /** @throws Error when the server at this address gives another answer than ours. */
  check(url: string): Promise<void>;
  /** A statement of `reads-sql.ts`, and its values from $3 on. */
  statement: string;
  values: readonly string[];
}

/** pgbench draws one of so many scripts: one for a repo of each organisation. */
const SCRIPTS = 20;

/**
 * Starts the other servers of the same requests, with the same rights and rows: stock express with kysely, fastify with
 * hand-written named statements, and these statements alone.
 */
export async function sameWork(world: ReadWorld, work: SameWork): Promise<Case['anchors']> {
  const { name, statement, values } = work;
  await work.check(world.api.url);
  const { url, repos } = world.readable;
  const scripts = repos
    .filter((_, n) => n % (repos.length / SCRIPTS) === 0)
    .map(({ tenantId, slug, token }) => {
      const hash = createHash('sha256').update(token).digest('hex');
      const rights = withValues(RIGHTS, [`'\\x${hash}'`]);
      return `${rights};\n${withValues(statement, [`${tenantId}`, `'${slug}'`, ...values])};\n`;
    });
  const alone = () => world.pgbench(`${name}-statements`, withSchema(url), ...scripts);
  return [
    { contender: { name: 'express + kysely', sample: await answersOf(world, 'express', work) }, bound: { atLeast: 6 } },
    { contender: { name: 'fastify + pg', sample: await answersOf(world, 'fastify', work) }, bound: { atLeast: 2.5 } },
    { contender: { name: 'pgbench, statements', sample: alone }, bound: { atLeast: 0.6 } },
  ];
}

type Asked = Pick<SameWork, 'name' | 'asks' | 'check'>;

export async function answersOf(world: ReadWorld, framework: 'express' | 'fastify', { name, asks, check }: Asked) {
  const child = await world.peer(`reads-${framework}`);
  await check(child.url);
  const [, postgres = 0] = world.ours.pids;
  return () => world.load(`${name}-${framework}`, { url: child.url, pids: [child.pid, postgres] }, asks);
}

/** A statement with its values in place, on one line. */
const withValues = (statement: string, values: readonly string[]): string =>
  values
    .reduce((text, value, n) => text.replaceAll(`$${n + 1}`, () => value), statement)
    .replace(/\n\s*/g, ' ')
    .trim();
