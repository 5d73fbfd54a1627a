import { createSignal } from '@pipeline/web/shared/signal.ts';

/** Issues that events named and that no list on the page has yet, as `owner/repo#N`. */
export const newcomers = createSignal<ReadonlySet<string>>(new Set());

export const forgetNewcomers = (): void => newcomers.set(new Set());
