import { FLEET } from './fleet.ts';
import { HEALTH } from './health.ts';
import { ISSUES } from './issues.ts';
import { QUALITY } from './quality.ts';
import type { Naive } from './terms.ts';

/** The reference model of the registry's functions. */
export const NAIVE: Readonly<Record<string, Naive>> = { ...ISSUES, ...FLEET, ...QUALITY, ...HEALTH };
