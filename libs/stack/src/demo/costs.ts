import type { Invocation } from '@pipeline/domain';

const CHARS_PER_TOKEN = 4;
const USD_PER_INPUT_TOKEN = 3e-6;
const USD_PER_OUTPUT_TOKEN = 15e-6;
/** What a real agent would have been told before the task itself. */
const PROMPT_TOKENS = 1_200;

/** Counts what a run read and wrote, to give the cost views plausible numbers. Nothing was paid. */
export interface Meter {
  read(text: string): void;
  wrote(text: string): void;
  invocation(stopReason: Invocation['stopReason']): Invocation;
}

export function createMeter(): Meter {
  let input = 0;
  let output = 0;
  let turns = 1;
  const tokens = (chars: number) => Math.ceil(chars / CHARS_PER_TOKEN);
  return {
    read(text) {
      input += text.length;
    },
    wrote(text) {
      output += text.length;
      turns += 1;
    },
    invocation(stopReason) {
      const inputTokens = PROMPT_TOKENS + tokens(input);
      const outputTokens = tokens(output);
      const costUsd = inputTokens * USD_PER_INPUT_TOKEN + outputTokens * USD_PER_OUTPUT_TOKEN;
      return {
        index: 0,
        model: 'scripted-demo',
        provider: 'simulation',
        inputTokens,
        outputTokens,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        turns,
        costUsd: Math.round(costUsd * 1e6) / 1e6,
        stopReason,
      };
    },
  };
}
