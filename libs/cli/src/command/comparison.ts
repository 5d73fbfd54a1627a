import { Comparison } from '@pipeline/domain';
import { UsageError } from './errors.ts';

/**
 * Parses `develop=claude:50,codex:50`, several task types separated by blanks, or `none` = no comparison.
 * @returns undefined when the option is not given. @throws UsageError
 */
export function comparison(text: string | undefined): Comparison | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'none') return null;
  const types = text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [type = '', agents = ''] = part.split(/=(.*)/s);
      return [type, Object.fromEntries(agents.split(',').map(weightOf))];
    });
  const result = Comparison.safeParse(Object.fromEntries(types));
  if (result.success && types.length === Object.keys(result.data).length) return result.data;
  const [issue] = result.error?.issues ?? [];
  const why = issue ? [...issue.path, issue.message].join(' ') : 'a task type is given twice';
  throw new UsageError(`--compare must be none or like develop=claude:50,codex:50; ${why}`);
}

const weightOf = (text: string): [string, number] => {
  const [agent = '', weight = ''] = text.split(/:([^:]*)$/);
  return [agent, /^\d{1,9}$/.test(weight) ? Number(weight) : Number.NaN];
};
