import { ScriptedWorker } from './scripted-worker.ts';
import { comes, type Stage } from './stage.ts';

const FINDING = {
  findingType: 'gap',
  category: 'tests',
  severity: 'high' as const,
  confidence: 0.9,
  title: 'Totals have no test',
  summary: 'Nothing checks what totals.ts returns.',
};
const ITEM = {
  kind: 'invariant' as const,
  title: 'Totals are never negative',
  summary: 'Callers rely on it.',
  confidence: 0.9,
};
const REASON = 'seen by the end-to-end check';

interface Known {
  id: string;
  title: string;
  status: string;
}

/** Judges reports of agents as an operator: dismisses a finding, and approves an item that was observed twice. */
export async function judgeKnowledge(stage: Stage): Promise<void> {
  const { operator, host, report } = stage;
  const worker = await ScriptedWorker.register(report.hosted, 'observer-of-the-operator', ['analyze']);
  for (let time = 1; time <= 2; time += 1) {
    const reported = { findings: [FINDING], intelligence: [ITEM] };
    await worker.perform('analyze', () => ({ outcome: 'analyzed', result: {}, ...reported }));
  }
  const known = async (kind: 'findings' | 'intelligence', title: string): Promise<Known | undefined> => {
    const { items } = await operator.api<{ items: Known[] }>(`/api/${kind}?repo=${host.slug}`);
    return items.find((item) => item.title === title);
  };
  const finding = await known('findings', FINDING.title);
  await operator.open(`/knowledge/findings?repo=${host.slug}&finding=${finding?.id}`, 'Findings');
  await operator.press('Dismiss');
  await operator.confirm({ reason: REASON });
  await comes(stage, 'a dismissed finding is dismissed', async () => {
    return (await known('findings', FINDING.title))?.status === 'dismissed';
  });
  const item = await known('intelligence', ITEM.title);
  stage.checks.equal('an item that was observed twice is proposed', item?.status, 'proposed');
  await operator.open(`/knowledge/items/${item?.id}?repo=${host.slug}`, ITEM.title);
  await operator.press('Approve');
  await operator.confirm();
  await comes(stage, 'an approved item is approved', async () => {
    return (await known('intelligence', ITEM.title))?.status === 'approved';
  });
}
