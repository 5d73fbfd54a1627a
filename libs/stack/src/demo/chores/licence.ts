import { isScript } from './chore.ts';
import type { Entry, ReportSpec } from './report.ts';

const HEAD_LINES = 10;

/** One entry when the head of a script names no licence. */
export function withoutLicence(path: string, text: string): Entry[] {
  const head = text.split('\n', HEAD_LINES).join('\n');
  if (text.trim() === '' || /SPDX-License-Identifier|licen[cs]ed under|copyright/i.test(head)) return [];
  return [{ path, line: 1, text: 'no licence header' }];
}

export const LICENCE: ReportSpec = {
  kind: 'licence',
  heading: 'Missing licence headers',
  suits: isScript,
  inspect: withoutLicence,
};
