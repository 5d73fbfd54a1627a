import { z } from 'zod';
import { commonEnv } from '../libs/runtime/src/env.ts';
import { hostedEnv } from '../services/hosted-api/src/process/env.ts';
import { monitorEnv } from '../services/monitor/src/process/env.ts';

/** Variables whose values belong in a Secret; `secrets` of the values takes them, `env` refuses them. */
const SECRET = /^DATABASE_(DIRECT_|READ_)?URL$|(SECRET|KEYS?|TOKEN|HEADERS|PASSWORD)$/;
/** Variables that the templates set from other values. */
const OWN = ['PORT', 'METRICS_PORT', 'LOG_DIR', 'PIPELINE_CONFIG', 'PUBLIC_URL', 'MONITOR_URL'];

const setting = z.union([z.string(), z.number(), z.boolean()]);
const anyObject = z.record(z.string(), z.unknown());
const peers = z.array(anyObject);
const text = z.string();
const count = (least: number) => z.int().min(least);
const annotations = z.record(z.string(), z.string());

const secretReference = z
  .strictObject({
    name: text.min(1).describe('Name of the Secret, in the namespace of the release.'),
    key: text.min(1).describe('Key in the Secret.'),
  })
  .describe('Where the value is; the chart contains references only.');
/** null removes a reference that is set by default. */
const optionalSecret = z.union([secretReference, z.null()]);

const image = z
  .strictObject({
    repository: text.min(1).describe('Name of the image below image.registry.'),
    tag: text.describe('Default: image.tag.'),
    digest: z.union([z.literal(''), text.regex(/^sha256:[0-9a-f]{64}$/)]).describe('Has precedence over the tag.'),
  })
  .describe('The image of this component.');

const quantity = z.union([z.string(), z.number()]);
const resources = z
  .strictObject({
    requests: z.record(z.string(), quantity).optional(),
    limits: z.record(z.string(), quantity).optional(),
  })
  .describe('Requests and limits of the container.');

const scheduling = z
  .strictObject({
    nodeSelector: anyObject,
    tolerations: z.array(anyObject),
    affinity: anyObject,
    priorityClassName: text,
  })
  .describe('Fields of the pod that select nodes.');

const pod = { image, resources, podAnnotations: annotations.describe('Annotations of the pods.'), scheduling };

const ingress = z
  .strictObject({
    enabled: z.boolean(),
    className: text.describe('Name of the IngressClass; empty = the default one of the cluster.'),
    host: z
      .union([z.literal(''), text.regex(/^[a-z0-9.-]+$/)])
      .describe('Public host name; required with enabled. The public URL is https:// and this name.'),
    annotations: annotations.describe('Annotations for the ingress controller or cert-manager.'),
    tls: z.strictObject({
      enabled: z.boolean().describe('false: TLS ends in front of the ingress controller.'),
      secretName: text.describe('Secret with the certificate; empty = the default certificate of the controller.'),
    }),
  })
  .describe('Access from outside the cluster.');

const publicUrl = z
  .union([z.literal(''), text.regex(/^https?:\/\/[^/]+$/)])
  .describe('Public address without a path; default: https:// and the host of the ingress.');

/** Schema of the settings that `env` takes, described as in docs/reference/environment.md. */
function settingsOf(shape: Readonly<Record<string, { description?: string | undefined }>>) {
  const names = Object.keys(shape).filter((name) => !SECRET.test(name) && !OWN.includes(name));
  const entries = names.map((name) => [name, setting.optional().describe(shape[name]?.description ?? '')] as const);
  return z.strictObject(Object.fromEntries(entries)).describe('Settings that are not secret.');
}

const hostedApi = z
  .strictObject({
    ...pod,
    replicas: count(0).describe('Number of pods; ignored with autoscaling.'),
    publicUrl,
    env: settingsOf({ ...hostedEnv, ...commonEnv }),
    secrets: z
      .object({ DATABASE_URL: secretReference })
      .catchall(optionalSecret)
      .describe('Variables whose values are in Secrets, by name.'),
    ingress,
    autoscaling: z.strictObject({
      enabled: z.boolean(),
      minReplicas: count(1),
      maxReplicas: count(1).describe('Each pod opens up to DATABASE_POOL_SIZE connections and a few more.'),
      targetCpuPercent: count(1).describe('Mean CPU time in percent of the request.'),
    }),
  })
  .describe('The API for workers, programs and webhooks.');

const monitor = z
  .strictObject({
    ...pod,
    replicas: count(0).describe('Number of pods; more than one need session affinity of the ingress.'),
    publicUrl,
    env: settingsOf({ ...monitorEnv, ...commonEnv }),
    secrets: z
      .object({ DATABASE_URL: secretReference })
      .catchall(optionalSecret)
      .describe('Variables whose values are in Secrets, by name; also those that the configuration names.'),
    config: anyObject.describe('The configuration of the service, see deploy/pipeline.example.yaml.'),
    existingConfigMap: text.describe('ConfigMap with the key pipeline.yaml in place of config.'),
    ingress,
  })
  .describe('The API and the dashboard of operators, and the background loops.');

const migrate = z
  .strictObject({
    ...pod,
    enabled: z.boolean().describe('false: you migrate before each release yourself.'),
    env: z.strictObject({
      DATABASE_ROLE_PREFIX: text.optional().describe('For a second installation on the same server.'),
    }),
    secrets: z.strictObject({
      DATABASE_URL: secretReference,
      DATABASE_DIRECT_URL: optionalSecret.optional(),
      HOSTED_API_DATABASE_PASSWORD: optionalSecret.optional(),
      MONITOR_DATABASE_PASSWORD: optionalSecret.optional(),
    }),
    serviceAccountName: text.describe('Must exist before the chart; empty = default.'),
    activeDeadlineSeconds: count(1).describe('The job is ended after this time.'),
  })
  .describe('The job that migrates the database before each installation and upgrade.');

const agent = z
  .strictObject({
    ...pod,
    enabled: z.boolean(),
    replicas: count(0),
    agent: text.min(1).describe('claude, codex or another agent of the image.'),
    extraArgs: z.array(z.string()).describe('More options of pipeline-agent.'),
    secrets: z
      .object({ WORKER_TOKEN: secretReference })
      .catchall(optionalSecret)
      .describe('The worker token and the keys of the agents.'),
    terminationGracePeriodSeconds: count(1).describe('Time to finish the running task; longer than --task-timeout.'),
    workSize: text.describe('Largest size of the work trees, such as 4Gi.'),
    proxy: z.strictObject({
      image,
      replicas: count(1),
      allowedHosts: z.array(text.regex(/^\.?[a-z0-9.-]+$/)).describe('Hosts that agents may reach over TLS.'),
      resources,
      scheduling,
    }),
  })
  .describe('Coding agents as workers.');

/** The values of the chart in deploy/helm/pipeline. */
export const ChartValues = z.strictObject({
  global: anyObject.optional().describe('Set by helm when the chart is part of another one; not used.'),
  fullnameOverride: text.describe('Prefix of the names of all objects; default: the name of the release.'),
  image: z.strictObject({
    registry: text.describe('Prefix of all images, such as images.example.org/acme.'),
    tag: text.describe('Default: the appVersion of the chart.'),
    pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
    pullSecrets: z.array(z.strictObject({ name: z.string() })),
  }),
  serviceAccount: z.strictObject({
    create: z.boolean(),
    name: text.describe('Default: the prefix of the names; without create, default.'),
    annotations,
  }),
  preStopSeconds: count(1).describe('Seconds that a pod that ends still serves, until no proxy sends it requests.'),
  hostedApi,
  monitor,
  migrate,
  agent,
  podDisruptionBudget: z.strictObject({ enabled: z.boolean() }),
  networkPolicy: z.strictObject({
    enabled: z.boolean().describe('Of the services and the migration; the agents always have theirs.'),
    hostedApiFrom: peers.describe('Peers that may reach the hosted API; empty = everyone.'),
    monitorFrom: peers.describe('Peers that may reach the monitor; empty = everyone.'),
    metricsFrom: peers.describe('Peers that may scrape the metrics; empty = nobody.'),
    database: z.strictObject({
      ports: z.array(z.int().min(1).max(65_535)).min(1).describe('Ports of the database and its pooler.'),
      to: peers.describe('Peers of the database; empty = every address.'),
    }),
    extraEgress: z.array(anyObject).describe('More egress rules of both services.'),
  }),
  serviceMonitor: z.strictObject({
    enabled: z.boolean().describe('Needs the Prometheus operator.'),
    labels: annotations.describe('Labels by which Prometheus selects the objects.'),
    interval: text.regex(/^[0-9]+(s|m)$/).describe('Time between two scrapes, such as 30s.'),
  }),
});
