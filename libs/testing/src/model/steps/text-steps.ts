import fc from 'fast-check';
import { BOT, PEOPLE, type Person } from '../host/state.ts';
import type { World } from '../world/world.ts';
import { pick, type Step } from './step.ts';
import { moves, NOTHING } from './verdict.ts';

const TEXTS = ['Do it.', 'Do it well.', 'Do something else.', 'Depends on #2.'];

/** The author of an issue, and people with write permission, may edit it at any time. */
const edits: fc.Arbitrary<Step> = fc
  .record({
    issue: fc.nat(4),
    byAuthor: fc.boolean(),
    part: fc.constantFrom('title' as const, 'body' as const),
    text: fc.constantFrom(...TEXTS),
  })
  .map((data) => ({
    name: 'edit',
    data,
    onIssue: true,
    async run(model, { host }) {
      const number = pick(model, data.issue);
      const author = host.state.issues.get(number)?.author ?? BOT;
      const editor = data.byAuthor && author !== BOT ? (author as Person) : 'anna';
      host.state.edit(number, { [data.part]: data.text }, editor, PEOPLE[editor] === 'write');
      return NOTHING;
    },
  }));

/** An operator accepts the stored change; agents may get it from then on. */
const accepts: fc.Arbitrary<Step> = fc.nat(4).map((data) => ({
  name: 'acceptText',
  data,
  onIssue: true,
  async run(model, world) {
    const number = pick(model, data);
    await approveChange(world, number);
    await world.acts.acceptText(number);
    return moves(number);
  },
}));

async function approveChange({ database, host }: World, number: number): Promise<void> {
  const row = await database.db
    .selectFrom('issue_host_facts as f')
    .innerJoin('issues as i', (join) => join.onRef('i.tenant_id', '=', 'f.tenant_id').onRef('i.id', '=', 'f.issue_id'))
    .select(['changed_title as title', 'changed_body as body'])
    .where('i.issue_number', '=', number)
    .executeTakeFirst();
  if (row?.title != null && row.body != null) host.state.log.approve(number, { title: row.title, body: row.body });
}

export const TEXT_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: edits },
  { weight: 1, arbitrary: accepts },
);
