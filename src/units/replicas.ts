/** The largest replica count that Kubernetes accepts: the maximum of an int32. */
export const MAX_REPLICAS = 2_147_483_647;
