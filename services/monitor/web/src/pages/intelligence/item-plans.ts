import type { ActionPlan } from '../../actions/action.ts';
import { request } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';

export type Item = Reply<'listIntelligence'>['items'][number];
type Named = Pick<Item, 'id' | 'title' | 'status'>;

const objectOf = (title: string): string => `“${title.length > 60 ? `${title.slice(0, 60)}…` : title}”`;

const approve = ({ id, title }: Named): ActionPlan => ({
  grade: 1,
  verb: 'Approve',
  object: objectOf(title),
  effect: 'Agents get the item as approved knowledge: retrieval ranks it before others.',
  reason: 'optional',
  run: async ({ reason }) => {
    const { item } = await request('approveIntelligence', {
      params: { id },
      body: { ...(reason !== undefined && { reason }) },
    });
    return `now ${item.status}`;
  },
});

const dismiss = ({ id, title }: Named): ActionPlan => ({
  grade: 2,
  verb: 'Dismiss',
  object: objectOf(title),
  effect: 'Marks the item as wrong or useless: agents no longer get it. If it is observed again, it stays dismissed.',
  reason: 'required',
  run: async ({ reason }) => {
    const { item } = await request('dismissIntelligence', { params: { id }, body: { reason: reason ?? '' } });
    return `now ${item.status}`;
  },
});

/** @param others items of the repo that may replace it. */
const supersede = ({ id, title }: Named, others: readonly Named[]): ActionPlan => ({
  grade: 1,
  verb: 'Supersede',
  object: objectOf(title),
  effect: 'Agents get the other item instead.',
  reason: 'optional',
  choices: { label: 'Replaced by', options: others.map((other) => ({ value: other.id, label: other.title })) },
  run: async ({ reason, choice }) => {
    const { item } = await request('supersedeIntelligence', {
      params: { id },
      body: { supersededBy: choice ?? '', ...(reason !== undefined && { reason }) },
    });
    return `now ${item.status}`;
  },
});

/** Returns the actions that the status of an item allows. */
export function itemPlans(item: Named, all: readonly Named[]): ActionPlan[] {
  const others = all.filter(({ id, status }) => id !== item.id && status !== 'dismissed' && status !== 'superseded');
  if (item.status === 'proposed') return [approve(item), dismiss(item)];
  if (item.status === 'candidate' || item.status === 'observed') return [dismiss(item)];
  if (item.status !== 'approved') return [];
  return others.length > 0 ? [supersede(item, others), dismiss(item)] : [dismiss(item)];
}
