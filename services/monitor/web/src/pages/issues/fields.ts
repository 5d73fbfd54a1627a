import { oneOf, optional, text } from '@pipeline/web/address/fields.ts';
import { STATE_NAMES } from '@pipeline/web/states/states.ts';

/** Filters, order and view of the issues page, as in its address. */
export const FIELDS = {
  view: oneOf(['table', 'board'], 'table'),
  state: optional(['all', 'blocked', 'paused', ...STATE_NAMES]),
  flag: optional(['blocked', 'paused']),
  q: text(),
  sort: text(30),
  peek: text(320),
};
