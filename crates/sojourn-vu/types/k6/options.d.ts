// The shape of `export const options`. Durations are texts such as `1m30s`, or milliseconds.

export type Duration = string | number;

export interface Stage {
  duration: Duration;
  target: number | string;
}

export type Threshold =
  string | { threshold: string; abortOnFail?: boolean; delayAbortEval?: Duration };

interface ScenarioBase {
  /** The exported function to run; `default` by default. */
  exec?: string;
  startTime?: Duration;
  /** How long iterations may go on at the end; 30 s by default. */
  gracefulStop?: Duration;
  env?: Record<string, string>;
  tags?: Record<string, string>;
  options?: Record<string, unknown>;
}

export interface ConstantVusScenario extends ScenarioBase {
  executor: 'constant-vus';
  vus?: number | string;
  duration: Duration;
}

export interface RampingVusScenario extends ScenarioBase {
  executor: 'ramping-vus';
  startVUs?: number | string;
  stages: Stage[];
  gracefulRampDown?: Duration;
}

export interface SharedIterationsScenario extends ScenarioBase {
  executor: 'shared-iterations';
  vus?: number | string;
  iterations?: number | string;
  maxDuration?: Duration;
}

export interface PerVuIterationsScenario extends ScenarioBase {
  executor: 'per-vu-iterations';
  vus?: number | string;
  iterations?: number | string;
  maxDuration?: Duration;
}

export interface ConstantArrivalRateScenario extends ScenarioBase {
  executor: 'constant-arrival-rate';
  /** Iterations begun per `timeUnit`. */
  rate: number | string;
  timeUnit?: Duration;
  duration: Duration;
  preAllocatedVUs: number | string;
  maxVUs?: number | string;
}

export interface RampingArrivalRateScenario extends ScenarioBase {
  executor: 'ramping-arrival-rate';
  startRate?: number | string;
  timeUnit?: Duration;
  stages: Stage[];
  preAllocatedVUs: number | string;
  maxVUs?: number | string;
}

/** Controlled through the REST interface; gone from k6 v2, kept here. */
export interface ExternallyControlledScenario extends ScenarioBase {
  executor: 'externally-controlled';
  vus?: number | string;
  maxVUs?: number | string;
  duration?: Duration;
}

export type Scenario =
  | ConstantVusScenario
  | RampingVusScenario
  | SharedIterationsScenario
  | PerVuIterationsScenario
  | ConstantArrivalRateScenario
  | RampingArrivalRateScenario
  | ExternallyControlledScenario;

export type TlsVersion = 'tls1.0' | 'tls1.1' | 'tls1.2' | 'tls1.3';

export interface Certificate {
  cert: string;
  key: string;
  password?: string;
  domains?: string[];
}

export interface Options {
  batch?: number;
  batchPerHost?: number;
  blacklistIPs?: string[];
  blockHostnames?: string[];
  cloud?: Record<string, unknown>;
  discardResponseBodies?: boolean;
  dns?: {
    ttl?: Duration | 'inf';
    select?: 'first' | 'random' | 'roundRobin';
    policy?: 'preferIPv4' | 'preferIPv6' | 'onlyIPv4' | 'onlyIPv6' | 'any';
  };
  duration?: Duration;
  executionSegment?: string;
  executionSegmentSequence?: string;
  ext?: Record<string, unknown>;
  handleSummaryTimeout?: Duration;
  hosts?: Record<string, string>;
  httpDebug?: string;
  insecureSkipTLSVerify?: boolean;
  iterations?: number | string;
  linger?: boolean;
  localIPs?: string;
  maxRedirects?: number;
  minIterationDuration?: Duration;
  noConnectionReuse?: boolean;
  noCookiesReset?: boolean;
  noSetup?: boolean;
  noTeardown?: boolean;
  noUsageReport?: boolean;
  noVUConnectionReuse?: boolean;
  paused?: boolean;
  rps?: number;
  scenarios?: Record<string, Scenario>;
  setupTimeout?: Duration;
  stages?: Stage[];
  summaryTimeUnit?: 's' | 'ms' | 'us';
  summaryTrendStats?: string[];
  systemTags?: string[];
  tags?: Record<string, string>;
  teardownTimeout?: Duration;
  thresholds?: Record<string, Threshold[]>;
  throw?: boolean;
  tlsAuth?: Certificate[];
  tlsCipherSuites?: string[];
  tlsVersion?: TlsVersion | { min?: TlsVersion; max?: TlsVersion };
  userAgent?: string;
  vus?: number | string;
}
