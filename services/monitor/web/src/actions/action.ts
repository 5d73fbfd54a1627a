import type { ReactNode } from 'react';

/**
 * Damage that an action can do. 0: reversible, done at once with a way to undo it. 1: a dialog names the effect. 2: a
 * reason is required. 3: the person types the number of affected things.
 */
export type Grade = 0 | 1 | 2 | 3;

/** The issue whose host writes show that an action has reached the host. */
export interface ActionIssue {
  repo: string;
  issueNumber: number;
}

export interface ActionPlan {
  grade: Grade;
  /** Verb of the button, such as `Retry`. */
  verb: string;
  /** Object of the verb, such as `acme/shop#7` or `3 issues`. */
  object: string;
  /** The effect in one sentence. */
  effect: ReactNode;
  /** Number to be typed for grade 3. */
  count?: number;
  reason: 'none' | 'optional' | 'required';
  /** Further input, such as the target of a transition. */
  choices?: { label: string; options: readonly { value: string; label: string }[] };
  /** Sends the request. @returns what the API answered, in words, or that only a part of it was done. */
  run(input: {
    reason: string | undefined;
    choice: string | undefined;
    onProgress: Progress;
    signal: AbortSignal;
  }): Promise<string | Answer>;
  /** Reverses an action of grade 0. */
  undo?: () => Promise<unknown>;
  /** The action consists of several requests and ends before the next one when its signal is aborted. */
  canStop?: true;
  /** Issue that is followed to the host after the API accepted the action. */
  issue?: ActionIssue;
}

/** Response of the API to an accepted action. */
export interface Answer {
  text: string;
  /** The action, or a part of it, had no effect: the entry stays until it is dismissed. */
  hasFailed: boolean;
}

/** Reports the progress of an action in several steps. */
export type Progress = (done: number, total: number) => void;

export type ActionPhase = 'sent' | 'accepted' | 'on-host' | 'failed';

/** An action that was sent. A failure stays until it is dismissed. */
export interface ActionRecord {
  id: number;
  title: string;
  phase: ActionPhase;
  /** Answer of the API, or the error. */
  text: string;
  code?: string;
  issue?: ActionIssue;
  progress?: { done: number; total: number };
  /** Ends an action of several requests before the next one. */
  stop?: () => void;
  undo?: () => Promise<unknown>;
}
