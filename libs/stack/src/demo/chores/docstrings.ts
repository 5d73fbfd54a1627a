import { isScript } from './chore.ts';
import type { Entry, ReportSpec } from './report.ts';

const EXPORTED =
  /^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(function\*?|class|interface|type|enum|const|let)\s+([A-Za-z_$][\w$]*)/;

/** Exported names of a script with no comment right above them (decorators may stand between). */
export function undocumented(path: string, text: string): Entry[] {
  const lines = text.split(/\r?\n/);
  return lines.flatMap((line, index) => {
    const match = EXPORTED.exec(line);
    if (!match) return [];
    let above = index - 1;
    while (above >= 0 && /^\s*@/.test(lines[above] ?? '')) above -= 1;
    const documented = /\*\/\s*$|^\s*\/\//.test(lines[above] ?? '');
    return documented ? [] : [{ path, line: index + 1, text: `${match[1]} ${match[2]} has no docstring` }];
  });
}

export const DOCSTRINGS: ReportSpec = {
  kind: 'docstrings',
  heading: 'Missing docstrings',
  suits: isScript,
  inspect: undocumented,
};
