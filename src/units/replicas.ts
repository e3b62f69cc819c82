/** Maximum of an int32, the type of replica counts in Kubernetes. */
export const MAX_REPLICAS = 2_147_483_647;
