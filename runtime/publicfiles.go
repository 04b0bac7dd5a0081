package runtime

import "weir/pipeline"

func CheckPublicFiles(plan *pipeline.Plan, folder *Folder) error { return nil }
