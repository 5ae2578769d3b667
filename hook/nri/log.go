package nri

import (
	"context"

	"github.com/sirupsen/logrus"
)

// logger lets the NRI library log through ours. Its debug lines print whole
// requests, environments included: they are dropped.
type logger struct{ log *logrus.Logger }

func (l logger) Debugf(context.Context, string, ...any) {}

func (l logger) Infof(_ context.Context, format string, args ...any) {
	l.log.Debugf("nri: "+format, args...)
}

func (l logger) Warnf(_ context.Context, format string, args ...any) {
	l.log.Warnf("nri: "+format, args...)
}

func (l logger) Errorf(_ context.Context, format string, args ...any) {
	l.log.Errorf("nri: "+format, args...)
}
