import type { Surface } from '@pipeline/contract';
import { answerChecks } from './answers.ts';
import { authenticationChecks } from './authentication.ts';
import { CHECK_SUITES, type Check } from './check.ts';
import { documentChecks } from './documents.ts';
import { HOSTED_REFUSALS } from './hosted-refusals.ts';
import { mcpChecks } from './mcp.ts';
import { metricsChecks } from './metrics.ts';
import { MONITOR_REFUSALS } from './monitor-refusals.ts';
import { movingPageChecks } from './moving-pages.ts';
import { oauthChecks } from './oauth/oauth.ts';
import { oauthLifeChecks } from './oauth/oauth-life.ts';
import { pagingChecks } from './paging.ts';
import { refusalCheck } from './refusal.ts';
import { scratchChecks } from './scratch.ts';
import { streamChecks } from './stream.ts';
import { claimAndHandBack, workerChecks } from './worker.ts';

const REFUSALS = { hosted: HOSTED_REFUSALS, monitor: MONITOR_REFUSALS };

/** All checks of a surface, by suite. */
export function checksOf(surface: Surface): Check[] {
  const all = [
    ...documentChecks(surface),
    ...answerChecks(surface),
    ...authenticationChecks(surface),
    ...REFUSALS[surface.name].map(refusalCheck),
    ...pagingChecks(surface),
    ...movingPageChecks(surface, claimAndHandBack),
    ...streamChecks(surface),
    ...metricsChecks(surface),
    ...mcpChecks(surface),
    ...oauthChecks(surface),
    ...oauthLifeChecks(surface),
    ...workerChecks(surface),
    ...scratchChecks(surface),
  ];
  return all.sort((a, b) => CHECK_SUITES.indexOf(a.suite) - CHECK_SUITES.indexOf(b.suite));
}
