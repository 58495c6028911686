// The module `k6/execution`: where the script is, and what it can say about the test.
import type { Options, Scenario } from './options';

export interface ScenarioInfo {
  readonly name: string;
  readonly executor: string;
  /** Milliseconds since 1970. */
  readonly startTime: number;
  /** From 0 to 1. */
  readonly progress: number;
  readonly iterationInInstance: number;
  readonly iterationInTest: number;
}

export interface InstanceInfo {
  readonly iterationsInterrupted: number;
  readonly iterationsCompleted: number;
  readonly vusActive: number;
  readonly vusInitialized: number;
  /** Milliseconds. */
  readonly currentTestRunDuration: number;
}

export interface VuInfo {
  readonly idInInstance: number;
  readonly idInTest: number;
  readonly iterationInInstance: number;
  readonly iterationInScenario: number;
  /** The same as `metrics.tags`. */
  readonly tags: Record<string, any>;
  /** Tags and metadata of whatever this user measures from here on. */
  readonly metrics: { readonly tags: Record<string, any>; readonly metadata: Record<string, any> };
}

export interface TestInfo {
  /** Ends the test: exit code 108. */
  abort(message?: string): never;
  /** Marks the test as failed, which goes on: exit code 110. */
  fail(message?: string): void;
  /** The options that are in force; shortcuts have become scenarios. */
  readonly options: Readonly<Omit<Options, 'scenarios'>> & {
    readonly scenarios: Readonly<Record<string, Scenario>>;
  };
}

export const scenario: ScenarioInfo;
export const instance: InstanceInfo;
export const vu: VuInfo;
export const test: TestInfo;

declare const execution: {
  scenario: ScenarioInfo;
  instance: InstanceInfo;
  vu: VuInfo;
  test: TestInfo;
};
export default execution;
