export { CHECK_SUITES } from './checks/check.ts';
export { problemCount } from './report/report.ts';
export { reportText } from './report/terminal.ts';
export { runSuites } from './run-suites.ts';
export { openSurface } from './target/open-surface.ts';
