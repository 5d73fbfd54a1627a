import type { SessionUpdate, Usage } from '@agentclientprotocol/sdk/unstable';
import { callCostUsd, type Invocation, type ModelPrice, priceOf, type STOP_REASONS } from '@pipeline/domain';

export interface UsageOptions {
  model: string;
  provider: string;
  /** Name of the agent, as it is registered. */
  agent: string;
  /** Prices for agents that report tokens without a cost. */
  prices: readonly ModelPrice[];
}

const NO_TOKENS = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/**
 * Collects turns, tokens and cost of one session. A turn is one response of the model: output after a prompt or after the
 * results of tools.
 */
export class UsageMeter {
  model: string;
  turns = 0;
  readonly #options: UsageOptions;
  #tokens: typeof NO_TOKENS | null = null;
  #reportedUsd: number | null = null;
  #isResponding = false;

  constructor(options: UsageOptions) {
    this.#options = options;
    this.model = options.model;
  }

  /** Counts what an update reports. */
  update(update: SessionUpdate): void {
    if (update.sessionUpdate === 'usage_update') {
      const { cost } = update;
      if (cost?.currency.toUpperCase() === 'USD') this.#reportedUsd = Math.max(this.#reportedUsd ?? 0, cost.amount);
    } else if (isOutput(update)) {
      if (!this.#isResponding) this.turns += 1;
      this.#isResponding = true;
    } else if (isToolEnd(update)) this.#isResponding = false;
  }

  /** Notes that a new prompt is sent. */
  prompted(): void {
    this.#isResponding = false;
  }

  /** Takes the tokens of the session so far. */
  used(usage: Usage | null | undefined): void {
    if (!usage) return;
    this.#tokens = {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens + (usage.thoughtTokens ?? 0),
      cacheReadTokens: usage.cachedReadTokens ?? 0,
      cacheWriteTokens: usage.cachedWriteTokens ?? 0,
    };
  }

  /** Cost in USD so far: as reported, else by tokens and price; null = unreported. */
  get costUsd(): number | null {
    if (this.#reportedUsd !== null) return this.#reportedUsd;
    return this.#tokens === null ? null : callCostUsd(priceOf(this.#options.prices, this.model), this.#tokens);
  }

  invocation(stopReason: (typeof STOP_REASONS)[number]): Invocation {
    const { provider, agent } = this.#options;
    const tokens = this.#tokens ?? NO_TOKENS;
    return {
      index: 0,
      model: this.model,
      provider,
      agent,
      ...tokens,
      turns: this.turns,
      costUsd: this.costUsd,
      stopReason,
    };
  }
}

const isOutput = ({ sessionUpdate }: SessionUpdate): boolean =>
  ['agent_message_chunk', 'agent_thought_chunk', 'tool_call', 'plan'].includes(sessionUpdate);

const isToolEnd = (update: SessionUpdate): boolean =>
  update.sessionUpdate === 'tool_call_update' && (update.status === 'completed' || update.status === 'failed');
