/** The pods among rendered objects, in the shape that the tests read. */
import type { Manifest } from './helm.ts';

interface SecretItem {
  readonly key: string;
  readonly path: string;
}
interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly tcpSocket?: { readonly port: string };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly resources: { readonly requests: Record<string, string>; readonly limits: Record<string, string> };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodSpec {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
  readonly topologySpreadConstraints?: readonly { readonly topologyKey: string }[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly configMap?: { readonly name: string };
    readonly projected?: {
      readonly sources: readonly {
        readonly secret: { readonly name: string; readonly items: readonly SecretItem[] };
      }[];
    };
  }[];
}

export interface Pod {
  /** The label `app.kubernetes.io/component`. */
  readonly component: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

interface PodTemplate {
  readonly metadata: { readonly labels: Record<string, string> };
  readonly spec: PodSpec;
}

export function podsOf(manifests: readonly Manifest[]): Pod[] {
  return manifests.flatMap((manifest) => {
    const { template, containers } = (manifest.spec ?? {}) as { template?: PodTemplate; containers?: unknown };
    const pod = containers === undefined ? template : (manifest as unknown as PodTemplate);
    if (pod === undefined) return [];
    const { labels } = pod.metadata;
    return [{ component: labels['app.kubernetes.io/component'] ?? '', labels, spec: pod.spec }];
  });
}

/** @returns the only container of the pods of a component. */
export function containerOf(manifests: readonly Manifest[], component: string): Container {
  const [container] = podsOf(manifests).find((pod) => pod.component === component)?.spec.containers ?? [];
  if (container === undefined) throw new Error(`no container of ${component}`);
  return container;
}

export function labelsMatch(labels: Readonly<Record<string, string>>, selector: Readonly<Record<string, string>>) {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}
